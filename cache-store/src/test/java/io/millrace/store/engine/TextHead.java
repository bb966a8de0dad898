package io.millrace.store.engine;

import io.millrace.store.CorruptHeadException;
import io.millrace.store.HeadCodec;
import io.millrace.store.HeadSummary;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;

/** A head for tests: a text, an expiry, and the end of its pin. */
record TextHead(String text, long expiresAtSeconds, long pinnedUntilSeconds) {
    /** Time of storing that the inventory receives for every head. */
    static final long STORED_AT = 1_800_000_000L;

    /** A text for which the inventory receives no data. */
    static final String UNSPEAKABLE = "unspeakable";

    /** A text that can be encoded, but not decoded. */
    static final String UNREADABLE = "unreadable";

    static TextHead of(String text) {
        return new TextHead(text, 1_900_000_000L, 0);
    }

    static TextHead of(String text, long expiresAtSeconds) {
        return new TextHead(text, expiresAtSeconds, 0);
    }

    /** Returns a head that expired long ago and is pinned. */
    static TextHead pinned(String text, long untilSeconds) {
        return new TextHead(text, 1_000_000_000L, untilSeconds);
    }

    static final class Codec implements HeadCodec<TextHead> {
        /** Number of decoded heads of all instances. */
        static final LongAdder DECODED = new LongAdder();

        private static final byte VERSION = 7;

        @Override
        public void encode(TextHead head, ByteBuf out) {
            out.writeByte(VERSION).writeLong(head.expiresAtSeconds).writeLong(head.pinnedUntilSeconds);
            out.writeBytes(head.text.getBytes(StandardCharsets.UTF_8));
        }

        @Override
        public int encodedLength(TextHead head) {
            return 17 + ByteBufUtil.utf8Bytes(head.text);
        }

        @Override
        public TextHead decode(ByteBuf in) throws CorruptHeadException {
            DECODED.increment();
            if (!in.isReadable(17) || in.readByte() != VERSION) {
                throw new CorruptHeadException("not a text head");
            }
            long expires = in.readLong();
            long pinnedUntil = in.readLong();
            String text = in.readCharSequence(in.readableBytes(), StandardCharsets.UTF_8)
                    .toString();
            if (text.equals(UNREADABLE)) {
                throw new CorruptHeadException(UNREADABLE);
            }
            return new TextHead(text, expires, pinnedUntil);
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
        public long pinnedUntilSeconds(TextHead head) {
            return head.pinnedUntilSeconds;
        }

        @Override
        public HeadSummary summary(TextHead head) {
            if (head.text.equals(UNSPEAKABLE)) {
                throw new IllegalStateException(UNSPEAKABLE);
            }
            return new HeadSummary(STORED_AT, head.text, List.of("tag-" + head.text));
        }
    }
}
