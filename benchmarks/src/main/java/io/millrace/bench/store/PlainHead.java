package io.millrace.bench.store;

import io.millrace.store.HeadCodec;
import io.netty.buffer.ByteBuf;

/**
 * The head of an object in benchmarks: a single number. It is as small as possible, so that a benchmark measures the
 * store and not the head.
 *
 * <p>Immutable.
 *
 * @param number content of the head
 */
public record PlainHead(long number) {
    /** Expiry time of all objects, far in the future, so that no object expires during a run. */
    private static final long EXPIRES_AT_SECONDS = 4_000_000_000L;

    /** Encodes heads as eight bytes. Thread-safe: stateless. */
    public static final class Codec implements HeadCodec<PlainHead> {
        @Override
        public void encode(PlainHead head, ByteBuf out) {
            out.writeLong(head.number);
        }

        @Override
        public PlainHead decode(ByteBuf in) {
            return new PlainHead(in.readLong());
        }

        @Override
        public int heapBytes(PlainHead head) {
            return 24;
        }

        @Override
        public long expiresAtSeconds(PlainHead head) {
            return EXPIRES_AT_SECONDS;
        }
    }
}
