/**
 * A stream of random numbers that is the same for the same seed, on every machine: xoshiro128** (D. Blackman and
 * S. Vigna 2018), its state filled by splitmix32. 32 bits a draw, which is more than any share or time here can tell apart.
 */
export class Random {
  #a: number;
  #b: number;
  #c: number;
  #d: number;

  /**
   * @param seed any whole number
   * @param stream streams of one seed are independent of each other
   */
  constructor(seed: number, stream: number) {
    let state = (mix((seed | 0) ^ mix(Math.floor(seed / 2 ** 32) | 0)) + Math.imul(stream, 0x632be5ab)) | 0;
    const fill = (): number => {
      state = (state + 0x9e3779b9) | 0;
      return mix(state);
    };
    this.#a = fill();
    this.#b = fill();
    this.#c = fill();
    this.#d = fill() | 1;
  }

  /** Uniform in [0, 1). */
  next(): number {
    const product = Math.imul(this.#b, 5);
    const result = Math.imul((product << 7) | (product >>> 25), 9);
    const shifted = this.#b << 9;
    this.#c ^= this.#a;
    this.#d ^= this.#b;
    this.#b ^= this.#c;
    this.#a ^= this.#d;
    this.#c ^= shifted;
    this.#d = (this.#d << 11) | (this.#d >>> 21);
    return (result >>> 0) / 2 ** 32;
  }

  /** Exponential with mean 1. */
  exponential(): number {
    return -Math.log(this.#positive());
  }

  /** Normal with mean 0 and deviation 1 (G. Box and M. Muller 1958). */
  normal(): number {
    return Math.sqrt(-2 * Math.log(this.#positive())) * Math.cos(2 * Math.PI * this.next());
  }

  /** Uniform in (0, 1): a logarithm of 0 would be a wait without end. */
  #positive(): number {
    return this.next() + 2 ** -33;
  }
}

function mix(state: number): number {
  let value = state;
  value = Math.imul(value ^ (value >>> 16), 0x21f0aaad);
  value = Math.imul(value ^ (value >>> 15), 0x735a2d97);
  return value ^ (value >>> 15);
}
