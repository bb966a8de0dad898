package io.millrace.proxy.config.yaml;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.ConfigCatalog;
import io.millrace.proxy.config.key.ConfigKey;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** With {@code -Dmillrace.docs.write=true} the page is rewritten. */
final class ConfigReferenceTest {
    private static final Path PAGE = Path.of("../docs/reference/configuration.md");

    @Test
    void isThePageThatIsCheckedIn() throws IOException {
        if (Boolean.getBoolean("millrace.docs.write")) {
            Files.createDirectories(PAGE.getParent());
            Files.writeString(PAGE, ConfigReference.page());
        }
        assertEquals(
                ConfigReference.page(),
                Files.exists(PAGE) ? Files.readString(PAGE) : "",
                "docs/reference/configuration.md is out of date; rewrite it with -Dmillrace.docs.write=true");
    }

    @Test
    void showsEveryKey() {
        for (ConfigKey<?> key : ConfigCatalog.keys()) {
            assertTrue(ConfigReference.page().contains("| `" + key.path() + "`"), key.path());
        }
    }

    @Test
    void describesOneKey() {
        assertEquals("""
                cache.max_stale_age
                  Time after the end of its lifetime for which a response may be served while the origin fails.
                  type      duration (time: ms, s, m, h, d)
                  default   7d
                  bounds    0 to 3650d
                  change    live
                  per rule  yes, also within an element of remap
                  in ATS    proxy.config.http.cache.max_stale_age
                """, ConfigReference.describe("cache.max_stale_age"));
    }

    @Test
    void describesASectionKeyByKey() {
        String text = ConfigReference.describe("admin");
        assertTrue(text != null && text.contains("admin.socket\n") && text.contains("admin.token_file\n"), text);
        assertEquals(null, ConfigReference.describe("adm"));
    }
}
