package io.millrace.store.engine;

import io.millrace.store.CorruptHeadException;
import io.millrace.store.HeadCodec;
import io.millrace.store.HeadSummary;
import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** A head for tests: a text and an expiry. */
record TextHead(String text, long expiresAtSeconds) {
    /** What the inventory is told of every head. */
    static final long STORED_AT = 1_800_000_000L;

    static TextHead of(String text) {
        return new TextHead(text, 1_900_000_000L);
    }

    static TextHead of(String text, long expiresAtSeconds) {
        return new TextHead(text, expiresAtSeconds);
    }

    static final class Codec implements HeadCodec<TextHead> {
        private static final byte VERSION = 7;

        @Override
        public void encode(TextHead head, ByteBuf out) {
            out.writeByte(VERSION).writeLong(head.expiresAtSeconds);
            out.writeCharSequence(head.text, StandardCharsets.UTF_8);
        }

        @Override
        public TextHead decode(ByteBuf in) throws CorruptHeadException {
            if (!in.isReadable(9) || in.readByte() != VERSION) {
                throw new CorruptHeadException("not a text head");
            }
            long expires = in.readLong();
            return new TextHead(
                    in.readCharSequence(in.readableBytes(), StandardCharsets.UTF_8)
                            .toString(),
                    expires);
        }

        @Override
        public int heapBytes(TextHead head) {
            return 64 + head.text.length();
        }

        @Override
        public long expiresAtSeconds(TextHead head) {
            return head.expiresAtSeconds;
        }

        @Override
        public HeadSummary summary(TextHead head) {
            return new HeadSummary(STORED_AT, head.text, List.of("tag-" + head.text));
        }
    }
}
