package io.millrace.proxy.http;

/**
 * Counts what stands around the contents of chunks: their sizes with extensions, and the trailers. A decoder of content has no
 * limit for these that could be changed. The count is the same however the bytes were cut on their way.
 *
 * <p>Confined to one thread.
 */
public final class ChunkLines {
    private long taken;

    /**
     * The decoder was given bytes.
     *
     * @param before how many there were
     * @param left how many of them it has not taken; where it has taken none, they are a line that has not ended
     * @param handedOn whether it has handed anything on, which ends the lines before it
     * @param contentBytes what of that is content
     * @return the length of the lines since it last handed something on
     */
    public long after(int before, int left, boolean handedOn, int contentBytes) {
        long lines = taken + before - left - contentBytes;
        taken = handedOn ? 0 : lines;
        return before == left ? lines + left : lines;
    }
}
