/** Lets all streams of a session together fill a fast link. In bytes. */
export const sessionWindowBytes = 4_194_304;

/** What this side of a session asks of its peer, and how much of it node:http2 takes in. */
export const sessionOptions = {
  /** Our own limit of fields is lower; over this one a stream would be reset with a code that says something else. */
  maxHeaderListPairs: 2000,
  /**
   * In megabytes. Over it node:http2 refuses heads that arrive, and the answers to all uploads that wait for a slow
   * server would be lost. What waits is bounded elsewhere: by the windows, and by what a stream is given at a time.
   */
  maxSessionMemory: 1024,
  /** Fields that should stand alone and come twice pass as they came: what they mean is for both ends to say. */
  strictSingleValueFields: false,
  settings: {
    enablePush: false,
    /** Lets a stream fill an ordinary link without letting one slow reader hold much memory. */
    initialWindowSize: 262_144,
    /** As `maxHeaderListPairs`, in bytes. */
    maxHeaderListSize: 1_048_576,
  },
} as const;
