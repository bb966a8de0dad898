package io.millrace.proxy.esi;

import java.util.List;

/** A parsed ESI document. Immutable. */
public final class EsiDocument {
    private final byte[] bytes;
    private final List<EsiPart> parts;
    private final int size;

    EsiDocument(byte[] bytes, List<EsiPart> parts, int size) {
        this.bytes = bytes;
        this.parts = parts;
        this.size = size;
    }

    /** The document; borrowed, and must not be changed. */
    public byte[] bytes() {
        return bytes;
    }

    /** The parts in their order. */
    public List<EsiPart> parts() {
        return parts;
    }

    /** Number of parts, also those in {@code esi:try}. */
    public int size() {
        return size;
    }

    /** Returns the line and column of a position, both from 1, as {@code 12:7}. Columns count bytes. */
    public String place(int position) {
        return placeIn(bytes, position);
    }

    static String placeIn(byte[] bytes, int position) {
        int line = 1;
        int lineStart = 0;
        for (int i = 0; i < position; i++) {
            if (bytes[i] == '\n') {
                line++;
                lineStart = i + 1;
            }
        }
        return line + ":" + (position - lineStart + 1);
    }
}
