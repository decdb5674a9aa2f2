export interface RestOptions {
  token?: string | undefined;
  body?: unknown;
  headers?: Record<string, string>;
}

export interface Answer<Body> {
  status: number;
  headers: Headers;
  body: Body;
}

export interface GraphqlError {
  message: string;
  path?: string[];
  extensions: {
    code: string;
    status: number;
    requestId: string;
    fields?: { field: string; message: string }[];
    challenge?: string;
  };
}

export interface GraphqlAnswer<Data> {
  status: number;
  headers: Headers;
  data: Data;
  errors: GraphqlError[] | undefined;
}

/** How a question fails that crossed with the end of an idle connection. */
const CLOSED = ['ECONNRESET', 'UND_ERR_SOCKET'];

const bearer = (token: string | undefined): Record<string, string> =>
  token === undefined ? {} : { authorization: `Bearer ${token}` };

export async function restCall<Body>(
  url: string,
  method: string,
  { token, body, headers }: RestOptions,
): Promise<Answer<Body>> {
  const isRaw = typeof body === 'string' || body === undefined;
  const ask = () =>
    fetch(url, {
      method,
      headers: { ...(isRaw ? {} : { 'content-type': 'application/json' }), ...bearer(token), ...headers },
      ...(body === undefined ? {} : { body: isRaw ? (body as string) : JSON.stringify(body) }),
    });
  const response = await ask().catch(error => {
    // The server closes what was idle for long; on a busy machine that may cross with a question, which is then asked again.
    if (method === 'GET' && CLOSED.includes(error.cause?.code)) return ask();
    throw error;
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: (text === '' ? undefined : JSON.parse(text)) as Body,
  };
}

export async function graphqlCall<Data>(
  url: string,
  operation: object,
  token?: string,
  headers = {},
): Promise<GraphqlAnswer<Data>> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...bearer(token), ...headers },
    body: JSON.stringify(operation),
  });
  const { data, errors } = (await response.json()) as { data: Data; errors?: GraphqlError[] };
  return { status: response.status, headers: response.headers, data, errors };
}
