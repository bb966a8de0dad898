package io.millrace.launcher.demo;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * A page of the demonstration site. Immutable.
 *
 * @param contentType media type, with a charset for text
 * @param cacheControl value of the Cache-Control field; null for none
 * @param content body; never modified
 * @param entityTag a strong entity tag, with its quotes
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
record DemoPage(String contentType, @Nullable String cacheControl, byte[] content, String entityTag) {

    /** Reads {@code file} from the site's resources. */
    static DemoPage read(String file, String contentType, @Nullable String cacheControl) throws IOException {
        try (InputStream in = DemoPage.class.getResourceAsStream("site/" + file)) {
            if (in == null) {
                throw new IOException("the demo site lacks " + file);
            }
            return of(in.readAllBytes(), contentType, cacheControl);
        }
    }

    static DemoPage of(byte[] content, String contentType, @Nullable String cacheControl) {
        CRC32C checksum = new CRC32C();
        checksum.update(content);
        String tag = "\"" + HexFormat.of().toHexDigits((int) checksum.getValue()) + "-" + content.length + "\"";
        return new DemoPage(contentType, cacheControl, content, tag);
    }

    /** Returns a copy in which {@code @name@} is replaced by the value. */
    DemoPage with(String name, String value) {
        String text = new String(content, StandardCharsets.UTF_8).replace("@" + name + "@", value);
        return of(text.getBytes(StandardCharsets.UTF_8), contentType, cacheControl);
    }
}
