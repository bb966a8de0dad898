package io.millrace.system;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Repeats {@link SmugglingTest} with rules that edit every message, and with compression. Nightly: 40 s. */
@Tag("nightly")
class SmugglingWithRulesTest extends SmugglingTest {
    @Override
    Launch configured(Launch launch) throws IOException {
        Path config = product.newDirectory().resolve("millrace.yaml");
        Files.writeString(config, """
                remap: [{map: /, to: "%s/"}]
                compression: {min_size: 1B}
                %s
                """.formatted(origin.url(), MatchAllRules.YAML));
        return launch.config(config);
    }

    @Test
    void rulesEditAndContentIsCompressed() throws Exception {
        RawResponse response = RawClient.fetch(proxy.port(), "/", "Accept-Encoding: gzip");
        assertEquals("gzip", response.field("Content-Encoding"));
        assertEquals("b", response.field("X-Rule-Stored"));
        assertEquals("c", response.field("X-Rule-Response"));
    }
}
