package io.millrace.proxy.tls;

import java.io.ByteArrayOutputStream;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Converts private keys from PKCS #1 and SEC 1 to PKCS #8. Also reads the public key in EC keys. All keys are in
 * DER encoding.
 *
 * <p>Thread-safe: no state. Sources: RFC 5208, RFC 8017 appendix A.1.2, RFC 5915.
 */
final class PrivateKeyDer {
    private static final int INTEGER = 0x02;
    private static final int BIT_STRING = 0x03;
    private static final int OCTET_STRING = 0x04;
    private static final int SEQUENCE = 0x30;
    private static final int PARAMETERS = 0xa0;
    private static final int PUBLIC_KEY = 0xa1;
    private static final byte[] VERSION_0 = {INTEGER, 1, 0};

    /** The AlgorithmIdentifier of rsaEncryption, with NULL as its parameters. */
    private static final byte[] RSA = {
        SEQUENCE, 13, 6, 9, 0x2a, (byte) 0x86, 0x48, (byte) 0x86, (byte) 0xf7, 0x0d, 1, 1, 1, 5, 0
    };

    /** The object identifier of id-ecPublicKey. */
    private static final byte[] EC = {6, 7, 0x2a, (byte) 0x86, 0x48, (byte) 0xce, 0x3d, 2, 1};

    private PrivateKeyDer() {}

    /** Converts a PKCS #1 key, from a {@code BEGIN RSA PRIVATE KEY} block, to PKCS #8. */
    static byte[] ofPkcs1(byte[] key) {
        return element(SEQUENCE, VERSION_0, RSA, element(OCTET_STRING, key));
    }

    /** Converts a SEC 1 key, from a {@code BEGIN EC PRIVATE KEY} block, to PKCS #8. */
    static byte[] ofSec1(byte[] key) {
        Reader fields = new Reader(key, 0, key.length).enter(SEQUENCE);
        fields.skip(INTEGER);
        fields.skip(OCTET_STRING);
        Reader curve = fields.find(PARAMETERS);
        if (curve == null) {
            throw new IllegalArgumentException("the EC key does not name its curve");
        }
        return element(SEQUENCE, VERSION_0, element(SEQUENCE, EC, curve.rest()), element(OCTET_STRING, key));
    }

    /** Returns the encoded public point in a PKCS #8 EC key. Returns null if the key contains no point. */
    static byte @Nullable [] ecPoint(byte[] pkcs8) {
        Reader outer = new Reader(pkcs8, 0, pkcs8.length).enter(SEQUENCE);
        outer.skip(INTEGER);
        outer.skip(SEQUENCE);
        Reader fields = outer.enter(OCTET_STRING).enter(SEQUENCE);
        fields.skip(INTEGER);
        fields.skip(OCTET_STRING);
        Reader point = fields.find(PUBLIC_KEY);
        return point == null ? null : point.enter(BIT_STRING).rest();
    }

    /**
     * Returns the public key in a SubjectPublicKeyInfo, as a bit string. The first byte is the number of unused bits.
     */
    static byte[] publicBits(byte[] subjectPublicKeyInfo) {
        Reader outer = new Reader(subjectPublicKeyInfo, 0, subjectPublicKeyInfo.length).enter(SEQUENCE);
        outer.skip(SEQUENCE);
        return outer.enter(BIT_STRING).rest();
    }

    private static byte[] element(int tag, byte[]... parts) {
        int length = 0;
        for (byte[] part : parts) {
            length += part.length;
        }
        ByteArrayOutputStream out = new ByteArrayOutputStream(length + 6);
        out.write(tag);
        if (length < 0x80) {
            out.write(length);
        } else if (length < 0x100) {
            out.write(0x81);
            out.write(length);
        } else {
            out.write(0x82);
            out.write(length >> 8);
            out.write(length);
        }
        for (byte[] part : parts) {
            out.write(part, 0, part.length);
        }
        return out.toByteArray();
    }

    /** Reads the elements of one constructed value in order. Confined to one thread. */
    private static final class Reader {
        private final byte[] bytes;
        private final int end;
        private int at;

        Reader(byte[] bytes, int start, int end) {
            this.bytes = bytes;
            this.at = start;
            this.end = end;
        }

        /** Reads the next element, which must have the given tag. Returns a reader of its content. */
        Reader enter(int tag) {
            if (at + 2 > end || (bytes[at] & 0xff) != tag) {
                throw new IllegalArgumentException("the key is not valid DER");
            }
            int length = bytes[at + 1] & 0xff;
            int start = at + 2;
            if (length > 0x80) {
                int octets = length - 0x80;
                if (octets > 3 || start + octets > end) {
                    throw new IllegalArgumentException("the key is not valid DER");
                }
                length = 0;
                for (int i = 0; i < octets; i++) {
                    length = (length << 8) | (bytes[start++] & 0xff);
                }
            }
            if (length > end - start) {
                throw new IllegalArgumentException("the key is cut off");
            }
            at = start + length;
            return new Reader(bytes, start, at);
        }

        void skip(int tag) {
            enter(tag);
        }

        /** Returns the content of the next element with the given tag. Returns null if there is none. */
        @Nullable
        Reader find(int tag) {
            while (at + 2 <= end) {
                int found = bytes[at] & 0xff;
                Reader content = enter(found);
                if (found == tag) {
                    return content;
                }
            }
            return null;
        }

        byte[] rest() {
            return Arrays.copyOfRange(bytes, at, end);
        }
    }
}
