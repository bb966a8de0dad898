package io.millrace.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.millrace.cli.command.ProcessEnvironment;
import io.millrace.cli.command.help.ManualPages;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;

final class ManualPagesTest {
    private final Map<String, List<String>> pages = ManualPages.ofMillctl(CommandTree.root());

    @TempDir
    private Path directory;

    @Test
    void thereIsAPageForAllAndForEachFirstWord() {
        List<String> names = new ArrayList<>(List.of("millctl"));
        CommandTree.root().getSubcommands().keySet().forEach(name -> names.add("millctl-" + name));
        assertEquals(names, List.copyOf(pages.keySet()));
    }

    @Test
    void everyCommandStandsInTheFirstPageAndWithItsOptionsInItsOwn() {
        String whole = String.join("\n", pages.get("millctl"));
        for (CommandLine command : CommandTree.all()) {
            boolean acts = !command.getCommandSpec().positionalParameters().isEmpty();
            if (!command.getSubcommands().isEmpty() && !acts) {
                continue;
            }
            String words = CommandTree.words(command);
            assertTrue(whole.contains("\n.B \"millctl " + words), words);
            String page = String.join("\n", pages.get("millctl-" + words.split(" ", -1)[0]));
            assertTrue(page.contains("\"millctl " + words), words);
            for (OptionSpec option : command.getCommandSpec().options()) {
                String name = option.longestName().replace("-", "\\-");
                assertTrue((option.inherited() ? whole : page).contains(name), words + " " + option.longestName());
            }
        }
    }

    @Test
    void noLineIsARequestByAccident() {
        String macros = "\\.(\\\\\" .*|TH .*|SH .*|SS .*|TP|PP|nf|fi|br|B \".*\"|BR [\\\\a-z-]+ \\(1\\),?)";
        pages.forEach((name, lines) -> lines.forEach(line -> {
            assertTrue(line.matches("[ -~]+"), name + ": " + line);
            assertTrue(line.matches("[^.'].*") || line.matches(macros), name + ": " + line);
        }));
    }

    @Test
    void helpPrintsThem() {
        ProcessEnvironment environment = new ProcessEnvironment(Map.of(), directory, directory, null, false);
        Run whole = Run.of(environment, "help", "--man");
        assertEquals(String.join("\n", pages.get("millctl")) + "\n", whole.out());
        assertEquals(0, whole.exitCode(), whole.err());
        String config = String.join("\n", pages.get("millctl-config")) + "\n";
        assertEquals(config, Run.of(environment, "help", "--man", "config").out());
        assertEquals(
                config, Run.of(environment, "help", "--man", "config", "get").out());
        assertEquals(2, Run.of(environment, "help", "--man", "nothing").exitCode());
    }

    @Test
    void manShowsThemWithoutAWarning() throws IOException, InterruptedException {
        assumeTrue(Tool.isInstalled("man"), "SKIPPED: man is not installed");
        List<String> command = new ArrayList<>(List.of("man", "--warnings", "-l"));
        for (Map.Entry<String, List<String>> page : pages.entrySet()) {
            Path file = directory.resolve(page.getKey() + ".1");
            Files.write(file, page.getValue());
            command.add(file.toString());
        }
        ProcessBuilder builder = new ProcessBuilder(command)
                .redirectError(directory.resolve("err").toFile());
        builder.environment().putAll(Map.of("LC_ALL", "C.UTF-8", "MANWIDTH", "80", "MANPAGER", "cat"));
        Process man = builder.start();
        man.getOutputStream().close();
        String shown = new String(man.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, man.waitFor());
        assertEquals("", Files.readString(directory.resolve("err")));
        assertTrue(shown.contains("millctl config set KEY=VALUE..."), shown);
        assertTrue(shown.contains("millctl-config - show and change the configuration\n"), shown);
        assertTrue(shown.contains("-H 'Cache-Control: max-age=0'"), shown);
    }
}
