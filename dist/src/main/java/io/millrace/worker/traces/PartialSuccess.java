package io.millrace.worker.traces;

import java.nio.charset.StandardCharsets;

/**
 * The content of a successful answer: {@code ExportTraceServiceResponse} of OTLP. Immutable.
 *
 * @param rejectedSpans number of spans that the collector did not take; the request must not be repeated for them
 * @param message the reason, or a warning; empty for none
 */
record PartialSuccess(long rejectedSpans, String message) {
    static final PartialSuccess COMPLETE = new PartialSuccess(0, "");

    private static final int PARTIAL_SUCCESS = 1;
    private static final int REJECTED_SPANS = 1;
    private static final int ERROR_MESSAGE = 2;
    private static final int MESSAGE_MAX = 200;

    /** Decodes an answer. An invalid answer counts as an answer that rejects no spans. */
    static PartialSuccess decode(byte[] content) {
        ProtoReader answer = new ProtoReader(content, 0, content.length);
        while (answer.next()) {
            if (answer.is(PARTIAL_SUCCESS, ProtoBuffer.LENGTH)) {
                return decode(new ProtoReader(content, answer.valueStart(), answer.valueEnd()));
            }
        }
        return COMPLETE;
    }

    private static PartialSuccess decode(ProtoReader partial) {
        long rejected = 0;
        String message = "";
        while (partial.next()) {
            if (partial.is(REJECTED_SPANS, ProtoBuffer.VARINT)) {
                rejected = Math.max(0, partial.number());
            } else if (partial.is(ERROR_MESSAGE, ProtoBuffer.LENGTH)) {
                message = partial.text();
            }
        }
        return new PartialSuccess(rejected, message);
    }

    /** Reads the fields of one message. Ends at an invalid field. */
    private static final class ProtoReader {
        private final byte[] bytes;
        private final int end;
        private int at;
        private int tag;
        private long number;
        private int valueStart;

        ProtoReader(byte[] bytes, int from, int end) {
            this.bytes = bytes;
            this.at = from;
            this.end = end;
        }

        boolean next() {
            if (at >= end) {
                return false;
            }
            tag = (int) varint();
            number = 0;
            valueStart = at;
            long length =
                    switch (tag & 7) {
                        case ProtoBuffer.VARINT -> {
                            number = varint();
                            yield 0;
                        }
                        case ProtoBuffer.FIXED64 -> Long.BYTES;
                        case ProtoBuffer.FIXED32 -> Integer.BYTES;
                        case ProtoBuffer.LENGTH -> {
                            long announced = varint();
                            valueStart = at;
                            yield announced;
                        }
                        default -> -1;
                    };
            if (length < 0 || length > end - at) {
                at = end;
                return false;
            }
            at += (int) length;
            return true;
        }

        /** Returns the next number. A number that is cut off is -1, which is not a valid length. */
        private long varint() {
            long value = 0;
            for (int shift = 0; shift < Long.SIZE; shift += 7) {
                if (at >= end) {
                    return -1;
                }
                byte b = bytes[at++];
                value |= (long) (b & 0x7f) << shift;
                if (b >= 0) {
                    return value;
                }
            }
            return -1;
        }

        boolean is(int field, int type) {
            return tag == ProtoBuffer.tag(field, type);
        }

        long number() {
            return number;
        }

        int valueStart() {
            return valueStart;
        }

        int valueEnd() {
            return at;
        }

        /** Returns the value as text for a log line: shortened, and without control characters. */
        String text() {
            String all = new String(bytes, valueStart, at - valueStart, StandardCharsets.UTF_8);
            String line = all.replaceAll("\\p{Cntrl}", " ");
            return line.length() > MESSAGE_MAX ? line.substring(0, MESSAGE_MAX) + "..." : line;
        }
    }
}
