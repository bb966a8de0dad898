package io.millrace.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.millrace.cli.command.help.ManualPages;
import io.millrace.cli.command.help.ZshCompletion;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import picocli.AutoComplete;
import picocli.CommandLine;

/**
 * Tests that the packed man pages and shell completions match the present commands. With
 * {@code -Dmillrace.golden.write=true} they are rewritten.
 */
final class ShareTest {
    private static final Path SHARE = Path.of("../dist/src/main/dist/share");
    private static final boolean WRITE = Boolean.getBoolean("millrace.golden.write");

    private static Map<String, String> made() {
        Map<String, String> files = new TreeMap<>();
        CommandLine root = CommandTree.root();
        ManualPages.ofMillctl(root)
                .forEach((name, lines) -> files.put("man/man1/" + name + ".1", String.join("\n", lines) + "\n"));
        files.put(
                "bash-completion/completions/millctl",
                AutoComplete.bash("millctl", root).stripTrailing() + "\n");
        files.put("zsh/site-functions/_millctl", ZshCompletion.of(root) + "\n");
        return files;
    }

    private static Map<String, String> packed() throws IOException {
        Map<String, String> files = new TreeMap<>();
        try (Stream<Path> found = Files.walk(SHARE)) {
            List<Path> ours = found.filter(file -> file.getFileName().toString().matches("_?millctl.*"))
                    .toList();
            for (Path file : ours) {
                files.put(SHARE.relativize(file).toString(), Files.readString(file));
            }
        }
        return files;
    }

    @Test
    void everyPageAndScriptIsCurrent() throws IOException {
        Map<String, String> made = made();
        if (WRITE) {
            for (Map.Entry<String, String> file : made.entrySet()) {
                Path path = SHARE.resolve(file.getKey());
                Files.createDirectories(path.getParent());
                Files.writeString(path, file.getValue());
            }
        }
        Map<String, String> packed = packed();
        assertEquals(made.keySet(), packed.keySet());
        made.forEach((name, text) -> assertEquals(text, packed.get(name), name));
    }
}
