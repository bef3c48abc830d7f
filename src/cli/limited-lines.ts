/** Lines that a storm may write in one second; what is beyond is counted and said afterwards. */
const LINES_A_SECOND = 50;

/**
 * Keeps the lines for people readable, and the disk free, in an outage: the access log has every request in any case.
 * @param write Takes a line that may pass.
 */
export function limitLines<Level extends string>(
  write: (level: Level | 'warn', line: string) => void,
  nowMs: () => number,
): (level: Level, line: string) => void {
  let second = 0;
  let count = 0;
  return (level, line) => {
    const current = Math.floor(nowMs() / 1000);
    if (current !== second) {
      if (count > LINES_A_SECOND) {
        write(
          'warn',
          `${count - LINES_A_SECOND} more lines in that second were left out; the access log has every request`,
        );
      }
      second = current;
      count = 0;
    }
    count += 1;
    if (count <= LINES_A_SECOND) write(level, line);
  };
}
