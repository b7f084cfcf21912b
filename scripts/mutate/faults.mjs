import { parseAst } from 'vitest/node';

/**
 * Plausible faults in one source file. Each rule looks at one node of the syntax tree and returns
 * the texts that a person could have written there by mistake.
 */

const OPPOSITE = {
  '===': '!==',
  '!==': '===',
  '&&': '||',
  '||': '&&',
  '+': '-',
  '-': '+',
  '*': '/',
  '/': '*',
};
const EDGE = { '<': '<=', '<=': '<', '>': '>=', '>=': '>' };
const METHODS = [
  ['some', 'every'],
  ['startsWith', 'endsWith'],
  ['indexOf', 'lastIndexOf'],
  ['find', 'findLast'],
  ['min', 'max'],
  ['floor', 'ceil'],
  ['lt', 'lte'],
  ['gt', 'gte'],
  ['plus', 'minus'],
  ['times', 'div'],
  ['padStart', 'padEnd'],
  ['trimStart', 'trimEnd'],
];
const UNITS = [
  ['1000', '60'],
  ['60', '1000'],
  ['1024', '1000'],
  ['3600', '60'],
  ['24', '60'],
  ['60_000', '1000'],
  ['SECOND', 'MINUTE'],
  ['MINUTE', 'SECOND'],
  ['HOUR', 'MINUTE'],
  ['DAY', 'HOUR'],
  ['MIB', 'KIB'],
  ['GIB', 'MIB'],
];
/** From here on, a zero too many is a likelier mistake than one more. */
const LARGE = 1000;
const EXITS = ['ReturnStatement', 'ThrowStatement', 'ContinueStatement', 'BreakStatement'];
const FUNCTIONS = ['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression'];

const isNode = (value) => typeof value?.type === 'string';

/** Calls `visit` for each node that has a value at run time; types have none. */
function walk(node, visit, parents = [], key = '') {
  if (node.type === 'ImportDeclaration') return;
  if (node.type.startsWith('TS')) {
    // `x as T`, `x!` and `x satisfies T` hold a value.
    if (isNode(node.expression)) walk(node.expression, visit, parents, key);
    return;
  }
  visit(node, parents, key);
  for (const [name, value] of Object.entries(node)) {
    for (const child of Array.isArray(value) ? value : [value]) {
      if (isNode(child)) walk(child, visit, [node, ...parents], name);
    }
  }
}

function namesIn(pattern) {
  if (pattern === null) return [];
  if (pattern.type === 'Identifier') return [pattern.name];
  if (pattern.type === 'ObjectPattern')
    return pattern.properties.flatMap((each) => namesIn(each.value ?? each.argument));
  if (pattern.type === 'ArrayPattern') return pattern.elements.flatMap(namesIn);
  if (pattern.type === 'AssignmentPattern') return namesIn(pattern.left);
  if (pattern.type === 'RestElement') return namesIn(pattern.argument);
  return [];
}

function ends(statement) {
  const last = statement.type === 'BlockStatement' ? statement.body.at(-1) : statement;
  return last !== undefined && EXITS.includes(last.type);
}

/** Returns whether a variable is read here, so that another variable could stand in its place. */
function isRead(parent, key) {
  if (parent === undefined) return false;
  if (parent.type === 'MemberExpression') return key === 'object';
  if (parent.type === 'Property') return key === 'value' && !parent.shorthand;
  if (parent.type === 'AssignmentExpression') return key === 'right';
  if (parent.type === 'ConditionalExpression') return key !== 'test';
  if (parent.type === 'CallExpression' || parent.type === 'NewExpression')
    return key === 'arguments';
  return ['BinaryExpression', 'ReturnStatement', 'TemplateLiteral', 'ArrayExpression'].includes(
    parent.type,
  );
}

/** Returns the range of one item of a list with one of its commas. */
function withComma(items, at) {
  if (at + 1 < items.length) return [items[at].start, items[at + 1].start];
  return [at === 0 ? items[at].start : items[at - 1].end, items[at].end];
}

/**
 * Returns `{rule, start, end, text}` for each fault: replace the source from `start` to `end` by
 * `text`.
 */
export function faultsOf(source) {
  const faults = [];
  /** Local variables by the function that declares them. */
  const locals = new Map();
  /** Properties read from each variable. */
  const properties = new Map();
  const compared = new Set();
  const tree = parseAst(source, { lang: 'ts' });
  const of = (node) => source.slice(node.start, node.end);
  const isComparison = (node) => ['===', '!=='].includes(node?.operator);
  const isText = (node) => node.type === 'Literal' && typeof node.value === 'string';

  walk(tree, (node, parents) => {
    const owner = parents.find(({ type }) => FUNCTIONS.includes(type));
    const declare = (scope, names) => {
      if (scope !== undefined) locals.set(scope, [...(locals.get(scope) ?? []), ...names]);
    };
    if (FUNCTIONS.includes(node.type)) declare(node, node.params.flatMap(namesIn));
    if (node.type === 'VariableDeclarator') declare(owner, namesIn(node.id));
    if (node.type === 'MemberExpression' && !node.computed) {
      const object = of(node.object);
      properties.set(object, (properties.get(object) ?? new Set()).add(node.property.name));
    }
    if (isText(node) && (isComparison(parents[0]) || parents[0]?.type === 'SwitchCase'))
      compared.add(of(node));
  });

  const put = (rule, start, end, text) => faults.push({ rule, start, end, text });
  const swap = (rule, node, text) => put(rule, node.start, node.end, text);

  walk(tree, (node, parents, key) => {
    const [parent] = parents;
    switch (node.type) {
      case 'BinaryExpression':
      case 'LogicalExpression': {
        const { left, right, operator } = node;
        const between = source.slice(left.end, right.start);
        const replaceOperator = (rule, other) =>
          put(rule, left.end, right.start, between.replace(operator, other));
        if (operator in OPPOSITE) replaceOperator('condition', OPPOSITE[operator]);
        if (operator in EDGE) replaceOperator('off by one', EDGE[operator]);
        if (node.type === 'LogicalExpression') {
          swap('missing case', node, of(left));
          if (operator !== '??') swap('missing case', node, of(right));
        }
        if (/^[*/]$/.test(operator) && UNITS.some(([unit]) => unit === of(right)))
          swap('unit', node, of(left));
        break;
      }
      case 'UnaryExpression':
        if (node.operator === '!') swap('condition', node, of(node.argument));
        break;
      case 'IfStatement':
        if (node.alternate === null && ends(node.consequent)) swap('guard', node, '');
        swap('condition', node.test, `!(${of(node.test)})`);
        break;
      case 'ConditionalExpression':
        put(
          'condition',
          node.consequent.start,
          node.alternate.end,
          `${of(node.alternate)} : ${of(node.consequent)}`,
        );
        break;
      case 'AwaitExpression':
        if (parent?.type !== 'ReturnStatement') swap('await', node, of(node.argument));
        break;
      case 'ExpressionStatement': {
        const call = node.expression.argument ?? node.expression;
        if (['CallExpression', 'AssignmentExpression'].includes(call.type)) swap('step', node, '');
        break;
      }
      case 'SwitchCase':
        if (node.test !== null) swap('missing case', node, '');
        break;
      case 'ArrayExpression':
      case 'ObjectExpression': {
        const items = node.elements ?? node.properties;
        if (items.length < 2 || items.includes(null)) break;
        for (const at of items.keys()) put('missing case', ...withComma(items, at), '');
        break;
      }
      case 'CallExpression': {
        // The order of these arguments does not matter.
        if (/^Math\.(?:min|max)$/.test(of(node.callee))) break;
        const given = node.arguments;
        for (const [at, first] of given.slice(0, -1).entries()) {
          const second = given[at + 1];
          const gap = source.slice(first.end, second.start);
          put('neighbour', first.start, second.end, `${of(second)}${gap}${of(first)}`);
        }
        break;
      }
      case 'MemberExpression': {
        if (node.computed) break;
        const { name } = node.property;
        if (key === 'callee') {
          for (const [one, other] of METHODS) {
            if (name === one) swap('condition', node.property, other);
            if (name === other) swap('condition', node.property, one);
          }
          break;
        }
        for (const other of properties.get(of(node.object)) ?? [])
          if (other !== name) swap('neighbour', node.property, other);
        break;
      }
      case 'Identifier': {
        for (const [unit, other] of UNITS)
          if (node.name === unit && isRead(parent, key)) swap('unit', node, other);
        if (!isRead(parent, key)) break;
        const names = parents.flatMap((each) => locals.get(each) ?? []);
        if (!names.includes(node.name)) break;
        for (const name of new Set(names)) if (name !== node.name) swap('neighbour', node, name);
        break;
      }
      case 'Literal':
        if (key === 'key') break;
        if (typeof node.value === 'boolean') swap('condition', node, String(!node.value));
        if (Number.isInteger(node.value)) {
          for (const [unit, other] of UNITS) if (node.raw === unit) swap('unit', node, other);
          if (node.value >= LARGE) swap('unit', node, String(node.value * 10));
          else
            for (const other of [node.value + 1, node.value - 1])
              if (other >= 0) swap('off by one', node, String(other));
        }
        if (node.regex !== undefined) {
          if (node.raw.startsWith('/^')) swap('guard', node, `/${node.raw.slice(2)}`);
          if (/\$\/\w*$/.test(node.raw)) swap('guard', node, node.raw.replace(/\$(\/\w*)$/, '$1'));
        }
        if (compared.has(node.raw) && (isComparison(parent) || parent?.type === 'SwitchCase'))
          for (const other of compared) if (other !== node.raw) swap('condition', node, other);
        break;
    }
  });
  return faults.filter(({ start, end, text }) => source.slice(start, end) !== text);
}

/**
 * Returns the fault as whole lines: the first line's number, the lines before, and the lines after.
 */
export function asLines(source, { rule, start, end, text }) {
  const from = source.lastIndexOf('\n', start - 1) + 1;
  const next = source.indexOf('\n', end);
  const to = next === -1 ? source.length : next;
  return {
    rule,
    line: source.slice(0, start).split('\n').length,
    before: source.slice(from, to),
    after: source.slice(from, start) + text + source.slice(end, to),
  };
}
