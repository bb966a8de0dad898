package io.millrace.proxy;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests live changes of compression. */
class LiveCompressionTest {
    private static final String BROWSER = "Accept-Encoding: gzip, deflate, br, zstd\r\n";

    @RegisterExtension
    final LiveProxy live = new LiveProxy();

    private LiveProxy answering(int length) {
        return live.script(request -> request.ok(
                "Cache-Control: max-age=600\r\nContent-Type: text/html\r\n", CompressionOnTheWireTest.text(length)));
    }

    private @Nullable String encoding() throws IOException {
        return live.get(live.fresh(), BROWSER).field("content-encoding");
    }

    private boolean isEncoded() throws IOException {
        return encoding() != null;
    }

    private int length() throws IOException {
        return live.get(live.fresh(), BROWSER).content().length;
    }

    @LiveKey("compression.enabled")
    void enabled() throws Exception {
        answering(9000).file("compression: {enabled: <false|true>}").turns(false, true, this::isEncoded);
    }

    @LiveKey("compression.encodings")
    void encodings() throws Exception {
        answering(9000).file("compression: {encodings: [<br|zstd>, gzip]}").turns("br", "zstd", this::encoding);
    }

    @LiveKey("compression.types")
    void types() throws Exception {
        answering(9000).file("compression: {types: [<text/css|text/*>]}").turns(false, true, this::isEncoded);
    }

    @LiveKey("compression.min_size")
    void minSize() throws Exception {
        answering(2000).file("compression: {min_size: <4KiB|1KiB>}").turns(false, true, this::isEncoded);
    }

    @LiveKey("compression.max_size")
    void maxSize() throws Exception {
        answering(20_000).file("compression: {max_size: <10KiB|1MiB>}").turns(false, true, this::isEncoded);
    }

    @LiveKey("compression.br_level")
    void brLevel() throws Exception {
        smaller("compression: {encodings: [br], br_level: <0|11>}");
    }

    @LiveKey("compression.zstd_level")
    void zstdLevel() throws Exception {
        smaller("compression: {encodings: [zstd], zstd_level: <1|19>}");
    }

    @LiveKey("compression.gzip_level")
    void gzipLevel() throws Exception {
        smaller("compression: {encodings: [gzip], gzip_level: <1|9>}");
    }

    /** The content is smaller after the change. */
    private void smaller(String file) throws Exception {
        int[] before = new int[1];
        answering(100_000).file(file).turns("first", "smaller", () -> {
            int length = length();
            String seen = before[0] == 0 ? "first" : length < before[0] ? "smaller" : "not smaller";
            before[0] = length;
            return seen;
        });
    }
}
