/** What one end of a tunnel tells whoever holds it. */
export interface TunnelReceiver {
  /**
   * Returns false to get no more until `resume`. The bytes are lent: after `true` they may be overwritten, after `false`
   * they are the receiver's.
   */
  data(chunk: Buffer): boolean;
  /** The peer said its last byte; it may still read. */
  ended(): void;
  /** It takes more, after `write` returned false. */
  drained(): void;
}

/**
 * One end of a tunnel: bytes both ways, each direction closed on its own. When it breaks, that is told where it came
 * from: by the attempt's handler, or by the listener of the downstream.
 */
export interface TunnelEnd {
  /** Says who gets the bytes; what came behind the head of the answer or the request comes now. Called once. */
  open(receiver: TunnelReceiver): void;
  /** Returns false when the peer is slow: wait for `drained`, and leave the bytes as they are until then. */
  write(chunk: Buffer): boolean;
  /** FIN, behind what was written. */
  end(): void;
  /** Takes more, after `data` returned false. */
  resume(): void;
}
