// Strings first, whole: a quote that is not closed is the place where it begins.
const TOKEN =
  /\s*(?:("[^"\\\u0000-\u001f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\u0000-\u001f]*)*")|(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)|([[\]{},:]))/y;

type Expected = 'value' | 'value-or-end' | 'key' | 'key-or-end' | 'colon' | 'comma-or-end';

/** Where a text stops being JSON; its end when something is missing there. V8 tells it for some mistakes only. */
export function jsonErrorOffset(text: string): number {
  const open: ('[' | '{')[] = [];
  let expected: Expected = 'value';
  TOKEN.lastIndex = 0;
  for (;;) {
    const from: number = TOKEN.lastIndex;
    const match = TOKEN.exec(text);
    const at = from + /^\s*/.exec(text.slice(from, from + 1000))![0].length;
    if (match === null) return at;
    const [, string, plain, mark] = match;
    const next = follow(expected, { isString: string !== undefined, isPlain: plain !== undefined, mark, open });
    if (next === undefined) return at;
    expected = next;
    if (open.length === 0 && expected === 'comma-or-end') {
      const rest = /\S/.exec(text.slice(TOKEN.lastIndex));
      return rest === null ? text.length : TOKEN.lastIndex + rest.index;
    }
  }
}

/** What may come after a token, or `undefined` when it may not stand here. */
function follow(
  expected: Expected,
  token: { isString: boolean; isPlain: boolean; mark: string | undefined; open: ('[' | '{')[] },
): Expected | undefined {
  const { isString, isPlain, mark, open } = token;
  const innermost = open.at(-1);
  const isClosing = (mark === ']' && innermost === '[') || (mark === '}' && innermost === '{');
  if (isClosing && (expected === 'comma-or-end' || expected === 'value-or-end' || expected === 'key-or-end')) {
    open.pop();
    return 'comma-or-end';
  }
  switch (expected) {
    case 'key':
    case 'key-or-end':
      return isString ? 'colon' : undefined;
    case 'colon':
      return mark === ':' ? 'value' : undefined;
    case 'comma-or-end':
      if (mark !== ',') return undefined;
      return innermost === '{' ? 'key' : 'value';
    case 'value':
    case 'value-or-end':
      if (isString || isPlain) return 'comma-or-end';
      if (mark !== '[' && mark !== '{') return undefined;
      open.push(mark);
      return mark === '[' ? 'value-or-end' : 'key-or-end';
  }
}
