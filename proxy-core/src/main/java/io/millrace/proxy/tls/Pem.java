package io.millrace.proxy.tls;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;

/**
 * Parses PEM files into labelled blocks, and writes such blocks (RFC 7468).
 *
 * <p>Thread-safe: no state.
 */
final class Pem {
    private static final String BEGIN = "-----BEGIN ";
    private static final String END = "-----END ";
    private static final String DASHES = "-----";

    private Pem() {}

    /**
     * One block of a file.
     *
     * @param label for example {@code CERTIFICATE}
     * @param content DER
     */
    @SuppressWarnings("ArrayRecordComponent") // instances are never compared
    record Block(String label, byte[] content) {}

    /**
     * Returns all blocks in file order. Text between blocks is skipped.
     *
     * @throws IllegalArgumentException if a BEGIN line or a block has no end, if a key is encrypted, or if the length
     *     of the base64 text is not valid. Characters outside of the base64 alphabet are skipped
     */
    static List<Block> blocks(byte[] file) {
        String text = new String(file, StandardCharsets.ISO_8859_1);
        List<Block> blocks = new ArrayList<>();
        int next = text.indexOf(BEGIN);
        while (next >= 0) {
            int labelEnd = text.indexOf(DASHES, next + BEGIN.length());
            if (labelEnd < 0) {
                throw new IllegalArgumentException("a BEGIN line does not end");
            }
            String label = text.substring(next + BEGIN.length(), labelEnd);
            int start = labelEnd + DASHES.length();
            int end = text.indexOf(END + label + DASHES, start);
            if (end < 0) {
                throw new IllegalArgumentException("no END line for " + label + "; the file may be cut off");
            }
            blocks.add(new Block(label, decode(label, text, start, end)));
            next = text.indexOf(BEGIN, end);
        }
        return blocks;
    }

    /** Appends a block. */
    static void append(StringBuilder out, String label, byte[] content) {
        out.append(BEGIN).append(label).append(DASHES).append('\n');
        out.append(Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(content));
        out.append('\n').append(END).append(label).append(DASHES).append('\n');
    }

    private static byte[] decode(String label, String text, int start, int end) {
        String body = text.substring(start, end);
        int blank = body.indexOf("\n\n");
        boolean headers = body.indexOf(':') >= 0;
        if (headers && body.contains("ENCRYPTED")) {
            throw new IllegalArgumentException("the key is encrypted; remove its passphrase with: openssl pkey");
        }
        byte[] base64 = (headers && blank >= 0 ? body.substring(blank) : body).getBytes(StandardCharsets.ISO_8859_1);
        try {
            return Base64.getMimeDecoder().decode(base64);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(label + " is not base64: " + e.getMessage(), e);
        }
    }
}
