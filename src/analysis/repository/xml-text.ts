import { SaxesParser } from 'saxes';

/** An element as a pom.xml or a .csproj needs it: its name, its attributes, its own text, what it holds. */
export interface XmlElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: XmlElement[];
  text: string;
}

/** Entities of a document's own making are never expanded, so "a billion laughs" stays as long as it was written. */
export function parseXml(source: string, nesting: number): XmlElement {
  const root: XmlElement = { name: '', attributes: {}, children: [], text: '' };
  const open: XmlElement[] = [root];
  const parser = new SaxesParser();
  parser.on('opentag', tag => {
    if (open.length > nesting) throw new Error('nested too deep');
    const element: XmlElement = { name: tag.name, attributes: tag.attributes, children: [], text: '' };
    open.at(-1)?.children.push(element);
    open.push(element);
  });
  parser.on('text', text => {
    const element = open.at(-1);
    if (element) element.text += text;
  });
  parser.on('closetag', () => open.pop());
  parser.on('error', fault => {
    throw fault;
  });
  parser.write(source).close();
  return root;
}

export function elementsNamed(element: XmlElement, name: string): XmlElement[] {
  return element.children.flatMap(child => (child.name === name ? [child] : []).concat(elementsNamed(child, name)));
}

export const childText = (element: XmlElement | undefined, ...names: readonly string[]): string | null => {
  const found = names.reduce<XmlElement | undefined>(
    (inner, name) => inner?.children.find(child => child.name === name),
    element,
  );
  return found?.text.trim() || null;
};
