/** Waiting for what happens, never for time to pass; a deadline says what did not happen. */

const DEADLINE = 30_000;

/** The promise's value, or an error that names what was waited for. */
export function within(promise, what, limit = DEADLINE) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not within ${limit} ms: ${what}`)), limit);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/** A promise that somebody else fulfils. */
export class Gate {
  constructor() {
    this.opened = new Promise((resolve) => {
      this.open = resolve;
    });
  }
}

/** What came so far, in order; what is yet to come can be waited for. */
export class Seen {
  items = [];
  #waiting = new Set();

  add(item) {
    this.items.push(item);
    for (const wait of [...this.#waiting]) wait();
  }

  /** The first item that fits, now or later. */
  find(fits, what = String(fits)) {
    return this.#until(() => this.items.find(fits), what);
  }

  /** The item with this number, counted from 1, now or later. */
  nth(count, what = "item") {
    return this.#until(() => this.items[count - 1], `${what} ${count}`);
  }

  #until(look, what) {
    const waited = new Promise((resolve) => {
      const wait = () => {
        const found = look();
        if (found === undefined) return;
        this.#waiting.delete(wait);
        resolve(found);
      };
      this.#waiting.add(wait);
      wait();
    });
    return within(waited, what);
  }
}

const undone = new WeakMap();

/** Does something when the test is over; what was asked for last is done first. */
export function after(t, work) {
  if (!undone.has(t)) {
    undone.set(t, []);
    t.after(async () => {
      for (const undo of undone.get(t).reverse()) await undo();
    });
  }
  undone.get(t).push(work);
}
