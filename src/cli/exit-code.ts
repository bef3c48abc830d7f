/** What a command's exit code says. */
export const exitCode: {
  readonly fine: 0;
  readonly failure: 1;
  readonly usage: 2;
  readonly exceeded: 3;
  readonly interrupted: 130;
} = {
  fine: 0,
  /** It could not do its work: an address in use, a file that cannot be written, an unexpected error. */
  failure: 1,
  /** A wrong option, or a configuration with faults. */
  usage: 2,
  /** A limit that was asked for is exceeded. */
  exceeded: 3,
  /** Ctrl-C ended it early; what it printed is a part. As shells tell SIGINT: 128 + 2. */
  interrupted: 130,
};

/** The command line asks for something that makes no sense; told like a wrong option, exit code 2. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UsageError';
  }
}
