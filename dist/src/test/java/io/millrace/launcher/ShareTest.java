package io.millrace.launcher;

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
 * Tests that the packed man pages and shell completions of {@code millrace} match its commands. With
 * {@code -Dmillrace.golden.write=true} they are rewritten.
 */
final class ShareTest {
    private static final Path SHARE = Path.of("src/main/dist/share");

    private static Map<String, String> made() {
        Map<String, String> files = new TreeMap<>();
        CommandLine root = LauncherMain.commandLine("none");
        ManualPages.of(root, Map.of(), Map.of("JAVA_HOME", "The Java that runs it; without it, that of the PATH."))
                .forEach((name, lines) -> files.put("man/man1/" + name + ".1", String.join("\n", lines) + "\n"));
        files.put(
                "bash-completion/completions/millrace",
                AutoComplete.bash("millrace", root).stripTrailing() + "\n");
        files.put("zsh/site-functions/_millrace", ZshCompletion.of(root) + "\n");
        return files;
    }

    private static Map<String, String> packed() throws IOException {
        Map<String, String> files = new TreeMap<>();
        for (String folder : List.of("man", "bash-completion", "zsh")) {
            try (Stream<Path> found = Files.walk(SHARE.resolve(folder))) {
                List<Path> ours = found.filter(
                                file -> file.getFileName().toString().matches("_?millrace.*"))
                        .toList();
                for (Path file : ours) {
                    files.put(SHARE.relativize(file).toString(), Files.readString(file));
                }
            }
        }
        return files;
    }

    @Test
    void everyPageAndScriptIsCurrent() throws IOException {
        Map<String, String> made = made();
        if (Boolean.getBoolean("millrace.golden.write")) {
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
