package io.millrace.proxy;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Tests live changes of the signatures that URLs need. */
class LiveSignedUrlsTest {
    private static final String SIGNED = "/v/1.mp4?E=4102444800&A=1&K=3&P=01&S=";

    @RegisterExtension
    final LiveProxy live = new LiveProxy();

    @TempDir
    Path directory;

    @BeforeEach
    void writeKeys() throws Exception {
        Files.writeString(directory.resolve("one"), "key3 = secret\n");
        Files.writeString(directory.resolve("two"), "key3 = other\nexcl_regex = /v/\n");
        live.in(directory);
    }

    private LiveProxy signed(String keys) {
        return live.file("signed_urls: {" + keys + "}");
    }

    @LiveKey("signed_urls.keys")
    void keys() throws Exception {
        signed("keys: <one|two>").turns(403, 200, () -> live.status("/v/1"));
    }

    @LiveKey("signed_urls.enabled")
    void enabled() throws Exception {
        signed("keys: one, enabled: <true|false>").turns(403, 200, () -> live.status("/v/1"));
    }

    @LiveKey("signed_urls.when")
    void condition() throws Exception {
        signed("keys: one, when: 'path =~ \"^/<a|v>\"'").turns(200, 403, () -> live.status("/v/1"));
    }

    @LiveKey("signed_urls.url")
    void url() throws Exception {
        Files.writeString(directory.resolve("one"), "key3 = secret\nexcl_regex = ^http://127\n");
        signed("keys: one, url: <client|origin>").turns(403, 200, () -> live.status(SIGNED + "00"));
    }
}
