/** What a parser awaits. `idle`: nothing is expected. `upgraded`: the rest of the connection is another protocol. */
export type ParserState =
  | 'idle'
  | 'start-line'
  | 'fields'
  | 'length'
  | 'until-close'
  | 'chunk-size'
  | 'chunk-data'
  | 'chunk-cr'
  | 'chunk-lf'
  | 'trailers'
  | 'complete'
  | 'upgraded'
  | 'faulted';

/** The head was delivered and its body is not over. */
export function isBodyState(state: ParserState): boolean {
  switch (state) {
    case 'length':
    case 'until-close':
    case 'chunk-size':
    case 'chunk-data':
    case 'chunk-cr':
    case 'chunk-lf':
    case 'trailers':
      return true;
    default:
      return false;
  }
}
