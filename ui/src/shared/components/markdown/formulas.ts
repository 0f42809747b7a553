import type { Code, Construct, Effects, State, TokenizeContext } from 'micromark-util-types';

/*
 * Formulas in Markdown: `$…$` and `\(…\)` within a line, `$$…$$` and `\[…\]` by themselves. Prices are no formulas: a
 * single dollar sign opens one only before something that is not a space, and closes it only before something that is
 * neither letter nor digit; "$5 and 3$" is words. The first closing sign decides, so that reading stays linear.
 */

declare module 'micromark-util-types' {
  interface TokenTypeMap {
    formula: 'formula';
    formulaData: 'formulaData';
  }
}

const MOST_TEX = 5000; // characters of one formula
const DOLLAR = 36;
const BACKSLASH = 92;
const OPENERS: Record<number, { closer: number; isDisplay: boolean }> = {
  40: { closer: 41, isDisplay: false }, // \( \)
  91: { closer: 93, isDisplay: true }, // \[ \]
};

const text: Construct = {
  name: 'formula',
  tokenize(effects, ok, nok) {
    return reading(this, effects, nok, { isBlock: false, after: code => (code === 40 ? nok(code) : ok(code)), ok });
  },
};

const flow: Construct = {
  name: 'formulaBlock',
  concrete: true,
  tokenize(effects, ok, nok) {
    return reading(this, effects, nok, { isBlock: true, after: ok, ok });
  },
};

/** What is read after the closing sign, in a line and as a block of its own. */
interface Ends {
  isBlock: boolean;
  /** After `\)` and `\]`. */
  after: State;
  ok: State;
}

function reading(context: TokenizeContext, effects: Effects, nok: State, { isBlock, after, ok }: Ends): State {
  const before = context.previous;
  const closing = { sign: DOLLAR, isDouble: false, isBracket: false };
  let tex = '';
  const keep = (code: Code) => {
    tex += code === null || code < 0 ? ' ' : String.fromCharCode(code);
    effects.consume(code);
  };
  const finish = (code: Code, next: State) => {
    effects.exit('formulaData');
    effects.exit('formula');
    return next(code);
  };

  const begin: State = code => {
    effects.enter('formula');
    effects.enter('formulaData');
    effects.consume(code);
    return code === BACKSLASH ? bracket : dollar;
  };
  const bracket: State = code => {
    const opened = code === null ? undefined : OPENERS[code];
    if (!opened || (isBlock && !opened.isDisplay)) return nok(code);
    closing.sign = opened.closer;
    closing.isBracket = true;
    return opens(code);
  };
  const dollar: State = code => {
    if (code === DOLLAR && before !== DOLLAR) {
      closing.isDouble = true;
      return opens(code);
    }
    if (isBlock || isWord(before) || before === DOLLAR || isSpace(code)) return nok(code);
    return inside(code);
  };
  const opens = (code: Code) => {
    effects.consume(code);
    if (isBlock && context.interrupt) return (next: Code) => finish(next, ok);
    return inside;
  };

  const inside: State = code => {
    if (code === null || tex.length > MOST_TEX) return nok(code);
    if (code < 0 && code >= -5 && code <= -3) return lineEnds(code);
    if (code === BACKSLASH) {
      keep(code);
      return escaped;
    }
    if (code === DOLLAR && !closing.isBracket) {
      effects.consume(code);
      return closing.isDouble ? secondDollar : singleCloses;
    }
    keep(code);
    return inside;
  };
  const escaped: State = code => {
    if (closing.isBracket && code === closing.sign) {
      tex = tex.slice(0, -1);
      effects.consume(code);
      return closes;
    }
    if (closing.isBracket && code !== null && OPENERS[code]?.closer === closing.sign) return nok(code);
    if (code === null || code < 0) return inside(code);
    keep(code);
    return inside;
  };
  const secondDollar: State = code => {
    if (code !== DOLLAR) return inside(code);
    effects.consume(code);
    return closes;
  };
  const singleCloses: State = code => (isWord(code) || !isSoundLine(tex) ? nok(code) : finish(code, ok));
  const closes: State = code => {
    if (!tex.trim() || (closing.isDouble && code === DOLLAR)) return nok(code);
    if (!isBlock) return finish(code, closing.isBracket ? after : ok);
    if (code === -2 || code === -1 || code === 32) {
      effects.consume(code);
      return closes;
    }
    return code === null || code < -2 ? finish(code, ok) : nok(code);
  };

  const lineEnds = (code: Code) => {
    if (!closing.isDouble && !closing.isBracket) return nok(code);
    effects.exit('formulaData');
    effects.enter('lineEnding');
    tex += '\n';
    effects.consume(code);
    effects.exit('lineEnding');
    return lineBegins;
  };
  const lineBegins: State = code => {
    if (code === null || (code >= -5 && code <= -3)) return nok(code); // a blank line ends every formula
    if (isBlock && context.parser.lazy[context.now().line]) return nok(code);
    effects.enter('formulaData');
    return inside(code);
  };
  return begin;
}

/** What stands between two single dollar signs, if they are those of a formula and not of prices. */
function isSoundLine(tex: string): boolean {
  if (!tex || /\s$/.test(tex)) return false;
  return !/^\d/.test(tex) || !/\s/.test(tex) || /[\\^_=<>+*/-]/.test(tex);
}

function isSpace(code: Code): boolean {
  return code === null || code < 0 || code === 32;
}

function isWord(code: Code): boolean {
  return code !== null && code > 0 && /[\p{L}\p{N}]/u.test(String.fromCharCode(code));
}

/** How micromark reads formulas. */
export const formulaSyntax = {
  text: { [DOLLAR]: text, [BACKSLASH]: text },
  flow: { [DOLLAR]: flow, [BACKSLASH]: flow },
};

/** The formula without its signs, and whether it stands by itself. */
export function texOf(source: string): { tex: string; isDisplay: boolean } {
  const isDisplay = source.startsWith('$$') || source.startsWith('\\[');
  const signs = source.startsWith('$') && !isDisplay ? 1 : 2;
  return { tex: source.trimEnd().slice(signs, -signs).trim(), isDisplay };
}
