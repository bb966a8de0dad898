package io.millrace.proxy;

import io.millrace.proxy.dictionary.Dictionaries;
import io.millrace.proxy.http.TargetUri;
import java.io.IOException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests live changes of compression. */
class LiveCompressionTest {
    private static final String BROWSER = "Accept-Encoding: gzip, deflate, br, zstd\r\n";
    private static final String DICTIONARY =
            "Cache-Control: max-age=600\r\nContent-Type: text/html\r\nUse-As-Dictionary: match=\"/*\"\r\n";

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

    @LiveKey("compression.dictionaries.enabled")
    void dictionariesEnabled() throws Exception {
        withDictionary("{enabled: <false|true>}", 9000, "br", "dcb");
    }

    @LiveKey("compression.dictionaries.encodings")
    void dictionariesEncodings() throws Exception {
        withDictionary("{encodings: [<dcb|dcz>]}", 9000, "dcb", "dcz");
    }

    @LiveKey("compression.dictionaries.max_size")
    void dictionariesMaxSize() throws Exception {
        withDictionary("{max_size: <4KiB|64KiB>}", 9000, "br", "dcb");
    }

    @LiveKey("compression.dictionaries.memory")
    void dictionariesMemory() throws Exception {
        byte[] first = CompressionOnTheWireTest.text(110_000);
        byte[] second = CompressionOnTheWireTest.text(111_000);
        AtomicInteger requests = new AtomicInteger();
        live.script(request -> request.ok(DICTIONARY, requests.getAndIncrement() % 3 == 0 ? first : second));
        // The memory is enough for one dictionary, or for both.
        live.file("compression: {dictionaries: {memory: <1MiB|64MiB>, max_size: 120KiB}}")
                .turns("br", "dcb", () -> {
                    Dictionaries dictionaries = live.proxy().proxy().shared().dictionaries();
                    dictionaries.clear();
                    ask(BROWSER);
                    ProxyExtension.await("a dictionary", () -> dictionaries.count() == 1);
                    ask(BROWSER);
                    ProxyExtension.await("the second one", () -> isKnown(dictionaries, second));
                    return ask("Accept-Encoding: br, dcb, dcz\r\n" + available(first));
                });
    }

    private static boolean isKnown(Dictionaries dictionaries, byte[] content) {
        TargetUri url = (TargetUri) TargetUri.parseAbsolute("http://localhost/");
        return !dictionaries.find(url, hash(content)).isEmpty();
    }

    private static String hash(byte[] content) {
        try {
            byte[] hash = MessageDigest.getInstance("SHA-256").digest(content);
            return ":" + Base64.getEncoder().encodeToString(hash) + ":";
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    private static String available(byte[] content) {
        return "Available-Dictionary: " + hash(content) + "\r\n";
    }

    /** A response becomes a dictionary, and the next one is encoded with it, as far as the settings permit that. */
    private void withDictionary(String section, int length, String before, String after) throws Exception {
        byte[] content = CompressionOnTheWireTest.text(length);
        live.script(request -> request.ok(DICTIONARY, content));
        live.file("compression: {dictionaries: " + section + "}").turns(before, after, () -> {
            ask(BROWSER);
            String expected = live.isChanged() ? after : before;
            if (!expected.equals("br")) {
                ProxyExtension.await(
                        "a dictionary",
                        () -> live.proxy().proxy().shared().dictionaries().count() > 0);
            }
            return ask("Accept-Encoding: br, dcb, dcz\r\n" + available(content));
        });
    }

    /** Returns the encoding of a path that was not requested before, on this machine: others need TLS. */
    private @Nullable String ask(String fields) throws IOException {
        RawClient client = live.proxy().client();
        client.send("GET " + live.fresh() + " HTTP/1.1\r\nHost: localhost\r\n" + fields + "\r\n");
        RawClient.Response response = client.response();
        live.settle();
        return response.field("content-encoding");
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
