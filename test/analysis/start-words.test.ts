import { startWords } from '../../src/analysis/dockerfile/start-words.ts';

describe('the words of a start command', () => {
  it.each<[string, string[]]>([
    ['node server.js', ['node', 'server.js']],
    ['gunicorn  app:server  --workers=2', ['gunicorn', 'app:server', '--workers=2']],
    ['node $FILE', ['sh', '-c', 'exec node $FILE']],
    ['cd apps/web && next start', ['sh', '-c', 'cd apps/web && exec next start']],
    ['A=1 node x', ['sh', '-c', 'A=1 node x']],
    ['exec node "a b"', ['sh', '-c', 'exec node "a b"']],
    ['node a | tee b', ['sh', '-c', 'node a | tee b']],
    ['node a; node b', ['sh', '-c', 'node a; node b']],
    ['node a & node b', ['sh', '-c', 'node a & node b']],
    ['echo "a && b" x', ['sh', '-c', 'echo "a && b" x']],
    ["echo 'a", ['sh', '-c', "echo 'a"]],
    ['java -jar $(ls *.jar | head -1)', ['sh', '-c', 'exec java -jar $(ls *.jar | head -1)']],
    ['if true; then x; fi', ['sh', '-c', 'if true; then x; fi']],
    ['x && cd y', ['sh', '-c', 'x && cd y']],
    ['node web.js # why', ['sh', '-c', 'exec node web.js # why']],
  ])('%s', (command, words) => {
    expect(startWords(command)).toEqual(words);
  });
});
