package io.millrace.launcher.demo;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * One representation of the site. Immutable.
 *
 * @param contentType with charset where it has one
 * @param cacheControl null where the page says nothing
 * @param content the bytes; nobody changes them
 * @param entityTag a strong validator, with its quotes
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

    /** This page with {@code @name@} filled in. */
    DemoPage with(String name, String value) {
        String text = new String(content, StandardCharsets.UTF_8).replace("@" + name + "@", value);
        return of(text.getBytes(StandardCharsets.UTF_8), contentType, cacheControl);
    }
}
