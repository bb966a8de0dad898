package io.millrace.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Checks the style of this module's sources. */
class TidyTest {
    @Test
    void theSourcesAreTidy() {
        assertEquals(List.of(), TidyRules.violations(Path.of("src")));
    }

    @Test
    void theRulesFindTheirOffenders(@TempDir Path folder) throws IOException {
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
    void packagesOverTheLimitAreFound(@TempDir Path folder) throws IOException {
        for (String name : List.of("a/full", "a/more")) {
            Files.createDirectories(folder.resolve(name));
            int types = name.equals("a/full") ? 25 : 26;
            for (int i = 0; i < types; i++) {
                Files.writeString(folder.resolve(name + "/T" + i + ".java"), "class T" + i + " {}");
            }
            Files.writeString(folder.resolve(name + "/package-info.java"), "package " + name.replace('/', '.') + ";");
        }
        assertEquals(
                List.of("a.more: types actual=26, limit=25; move types to another package"),
                TidyPackages.violations(folder));
    }

    @Test
    void linksToMissingFilesAndHeadingsAreFound(@TempDir Path folder) throws IOException {
        Files.writeString(folder.resolve("there.md"), "# A `part`: 2 of 3\n## Same\n## Same\n```\n# code\n```\n");
        Path page = folder.resolve("page.md");
        Files.writeString(page, """
                [a](there.md) [b](there.md#a-part-2-of-3) [c](gone.md)
                ```
                [d](code.md)
                ```
                [e](https://a/b) [f](#g) [h](x/y) [i](#own)
                [j](there.md#same-1) [k](there.md#same-2) [l](there.md#code)
                ## Own
                """);
        assertEquals(
                List.of(
                        page + ":1: gone.md",
                        page + ":5: #g",
                        page + ":5: x/y",
                        page + ":6: there.md#same-2",
                        page + ":6: there.md#code"),
                TidyLinks.broken(page));
    }

    @Test
    void namesOfMissingTypesAndFilesAreFound(@TempDir Path folder) throws IOException {
        Files.createDirectories(folder.resolve("docs"));
        Path page = Files.writeString(
                folder.resolve("docs/page.md"),
                "`Known` `disk.Known.run()` `Gone` `docs/page.md` `docs/gone.md` `dist/target/x.jar` `GET` `a/b`\n```\n`Code`\n```\n");
        assertEquals(
                List.of(page + ":1: Gone", page + ":1: docs/gone.md"),
                TidyNames.missing(page, folder, Set.of("Known")));
    }

    @Test
    void bannedPhrasesAreFound(@TempDir Path folder) throws IOException {
        Path page = Files.writeString(folder.resolve("page.md"), """
                # What is stored
                A client asks. Who asks twice
                waits. What is a follower? `What` is fine, and
                so is what follows here.

                - Whoever holds the token
                | Who | the house of the store |
                ```
                What is code
                ```
                """);
        Path source = Files.writeString(folder.resolve("A.java"), """
                /**
                 * What it holds.
                 *
                 * @param a What is held
                 * @param b what is held
                 */
                class A {
                    String s = "// What is a string"; // Who reads it: {@code leg}
                    int notThis; // Sees legs.
                }
                """);
        assertEquals(
                List.of(
                        page + ":1: What is stored",
                        page + ":2: Who asks twice",
                        page + ":6: Whoever holds the token",
                        page + ":7: Who",
                        page + ":7: house"),
                TidyLanguage.violations(page));
        assertEquals(
                List.of(
                        source + ":2: What it holds",
                        source + ":4: What is held",
                        source + ":8: Who reads it: {@code leg}",
                        source + ":8: leg",
                        source + ":9: legs"),
                TidyLanguage.violations(source));
    }
}
