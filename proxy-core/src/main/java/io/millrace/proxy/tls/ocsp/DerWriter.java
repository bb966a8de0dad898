package io.millrace.proxy.tls.ocsp;

import java.io.ByteArrayOutputStream;

/** Encodes elements in DER (X.690). Thread-safe: no state. */
final class DerWriter {
    private DerWriter() {}

    /** Returns an element whose content is the concatenation of the parts. */
    static byte[] element(int tag, byte[]... parts) {
        int length = 0;
        for (byte[] part : parts) {
            length += part.length;
        }
        if (length > 0xffff) {
            throw new IllegalArgumentException("an element of a request is too long");
        }
        ByteArrayOutputStream out = new ByteArrayOutputStream(length + 4);
        out.write(tag);
        if (length >= 0x100) {
            out.write(0x82);
            out.write(length >> 8);
        } else if (length >= 0x80) {
            out.write(0x81);
        }
        out.write(length);
        for (byte[] part : parts) {
            out.write(part, 0, part.length);
        }
        return out.toByteArray();
    }
}
