package io.millrace.proxy.http;

/**
 * Counts the bytes of a chunked message that are not content: chunk size lines with extensions, and trailers. Netty's
 * decoder has no configurable limit for these bytes. The count does not depend on how the network split the
 * bytes into reads.
 *
 * <p>Confined to one thread.
 */
public final class ChunkLines {
    private long lineBytes;

    /**
     * Accounts for one call of the decoder.
     *
     * @param before number of bytes before the call
     * @param left number of bytes that the decoder did not consume; if it consumed none, they are an incomplete line
     * @param producedOutput whether the decoder produced output; if so, the next call counts from 0 again
     * @param contentBytes number of content bytes in that output
     * @return the length of the lines since the decoder last produced output
     */
    public long after(int before, int left, boolean producedOutput, int contentBytes) {
        long lines = lineBytes + before - left - contentBytes;
        lineBytes = producedOutput ? 0 : lines;
        return before == left ? lines + left : lines;
    }
}
