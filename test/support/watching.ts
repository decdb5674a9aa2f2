import type { Person, TestApp } from './create-app.ts';
import { SseClient, type SseMessage } from './sse-client.ts';

export interface Progress {
  seq: number;
  at: string;
  status: string;
  step: string;
  message: string;
  progress: number;
  result: { language: string; framework: string | null } | null;
}

/** All messages of the analysis of a project, to its end. */
export async function watchAnalysis(
  { url }: Pick<TestApp, 'url'>,
  { token }: Pick<Person, 'token'>,
  projectId: string,
  { after, lastEventId }: { after?: string; lastEventId?: string } = {},
): Promise<(Progress & { id: string })[]> {
  const query = after === undefined ? '' : `?after=${encodeURIComponent(after)}`;
  const headers: Record<string, string> = lastEventId === undefined ? {} : { 'last-event-id': lastEventId };
  const stream = await SseClient.open(`${url}/api/v1/projects/${projectId}/analysis-status${query}`, {
    token,
    headers,
  });
  if (stream.status !== 200) throw new Error(`the stream answered ${stream.status}`);
  await stream.ended;
  return stream.drain().map(read);
}

const read = ({ id, data }: SseMessage): Progress & { id: string } => ({
  ...(JSON.parse(data) as Progress),
  id: id ?? '',
});
