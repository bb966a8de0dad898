package io.millrace.proxy.extension;

import io.millrace.proxy.spi.CacheKeyHook;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Objects;

/**
 * The parts that extensions add to a cache key. Each part is a suffix {@code  ext=NAME:PART}. Bytes other than letters,
 * digits, {@code -}, {@code .} and {@code _} are percent-encoded.
 *
 * <p>Confined to one event loop.
 */
final class KeyParts implements CacheKeyHook.Parts {
    private static final int COUNT_MAX = 16;
    private static final int BYTES_MAX = 1024;
    private static final String HEX = "0123456789ABCDEF";

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private String name = "";
    private int count;
    private int length;

    /** Begins the parts of an extension. */
    void begin(String extension) {
        name = extension;
    }

    @Override
    public void add(String part) {
        byte[] bytes = Objects.requireNonNull(part).getBytes(StandardCharsets.UTF_8);
        count++;
        length += bytes.length;
        if (count > COUNT_MAX) {
            throw new HookLimitException("parts of a cache key: actual=" + count + ", limit=" + COUNT_MAX);
        }
        if (length > BYTES_MAX) {
            throw new HookLimitException(
                    "bytes of the parts of a cache key: actual=" + length + ", limit=" + BYTES_MAX);
        }
        out.writeBytes((" ext=" + name + ":").getBytes(StandardCharsets.US_ASCII));
        for (byte b : bytes) {
            if ((b >= '0' && b <= '9')
                    || (b >= 'A' && b <= 'Z')
                    || (b >= 'a' && b <= 'z')
                    || b == '-'
                    || b == '.'
                    || b == '_') {
                out.write(b);
            } else {
                out.write('%');
                out.write(HEX.charAt((b >> 4) & 15));
                out.write(HEX.charAt(b & 15));
            }
        }
    }

    byte[] bytes() {
        return out.toByteArray();
    }
}
