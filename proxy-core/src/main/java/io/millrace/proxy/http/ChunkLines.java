package io.millrace.proxy.http;

/**
 * Counts the bytes around the contents of chunks: the chunk sizes with extensions, and the trailers. The content
 * decoder has no configurable limit for them. The count does not depend on how the bytes were split in transport.
 *
 * <p>Confined to one thread.
 */
public final class ChunkLines {
    private long taken;

    /**
     * Accounts for one call of the decoder.
     *
     * @param before number of bytes before the call
     * @param left number of bytes that the decoder did not consume; if it consumed none, they are an incomplete line
     * @param handedOn whether the decoder produced output, which ends the lines before it
     * @param contentBytes number of content bytes in that output
     * @return the length of the lines since the decoder last produced output
     */
    public long after(int before, int left, boolean handedOn, int contentBytes) {
        long lines = taken + before - left - contentBytes;
        taken = handedOn ? 0 : lines;
        return before == left ? lines + left : lines;
    }
}
