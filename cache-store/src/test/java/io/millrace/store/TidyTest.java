package io.millrace.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** This module's sources keep the rules of style. */
class TidyTest {
    @Test
    void theSourcesAreTidy() {
        assertEquals(List.of(), TidyRules.violations(Path.of("src")));
    }

    @Test
    void theRulesFindWhatTheyAreFor(@TempDir Path folder) throws IOException {
        String method = "    void m() {\n" + "        int i;\n".repeat(70) + "    }\n";
        Files.writeString(
                folder.resolve("A.java"),
                "final class CacheManager {\n    // TODO\n    synchronized int x;\n" + method + "}\n");
        List<String> found = TidyRules.violations(folder);
        assertEquals(4, found.size(), found::toString);
        assertTrue(found.get(0).endsWith("A.java:1: type name CacheManager"), found::toString);
        assertTrue(found.get(3).endsWith("A.java:4: method lines actual=72, limit=60"), found::toString);
    }

    @Test
    void linksToFilesThatAreNotThereAreFound(@TempDir Path folder) throws IOException {
        Files.writeString(folder.resolve("there.md"), "");
        Path page = folder.resolve("page.md");
        Files.writeString(
                page,
                "[a](there.md) [b](there.md#part) [c](gone.md)\n```\n[d](code.md)\n```\n[e](https://a/b) [f](#g) [h](x/y)\n");
        assertEquals(List.of(page + ":1: gone.md", page + ":5: x/y"), TidyLinks.broken(page));
    }
}
