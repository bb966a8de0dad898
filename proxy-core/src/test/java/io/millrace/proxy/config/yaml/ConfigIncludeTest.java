package io.millrace.proxy.config.yaml;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.key.ConfigKeys;
import io.millrace.proxy.config.problem.ConfigDocument;
import io.millrace.proxy.config.problem.ConfigProblem;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class ConfigIncludeTest {
    private static final String RULE = "remap: [{map: http://%s.example/, to: http://o.example/}]\n";

    @TempDir
    Path directory;

    private Path file;
    private Path rules;

    @BeforeEach
    void rules() throws IOException {
        file = directory.resolve("m.yaml");
        rules = Files.createDirectories(directory.resolve("rules.d"));
    }

    private ConfigResult load(String include) throws IOException {
        Files.writeString(file, "include: " + include + "\nlisten: [':1']\nremap: [{map: /, to: http://o.example/}]\n");
        return ConfigLoader.load(file, Map.of());
    }

    private Path rule(String name, String text) throws IOException {
        return Files.writeString(rules.resolve(name), text);
    }

    private static List<String> froms(ConfigResult result) {
        ProxyConfig config = result.config();
        assertNotNull(config, result::text);
        return config.remap().stream().map(rule -> rule.from().toString()).toList();
    }

    @Test
    void goesOnWithTheListsInTheOrderOfTheNames() throws IOException {
        rule("20.yaml", RULE.formatted("b"));
        rule("10.yml", RULE.formatted("a"));
        rule(".hidden.yaml", RULE.formatted("hidden"));
        rule("notes.txt", "no: yaml");
        Files.createDirectories(rules.resolve("below.yaml"));
        assertEquals(List.of("/", "http://a.example/", "http://b.example/"), froms(load("rules.d")));
        assertEquals(List.of("/", "http://b.example/"), froms(load("rules.d/2*.yaml")));
        assertEquals(
                List.of("/", "http://b.example/", "http://a.example/"),
                froms(load("[rules.d/20.yaml, '" + rules + "', rules.d/20.yaml]")),
                "each once, where it is named first");
        assertEquals(List.of("/"), froms(load("rules.d/none*.yaml")));
    }

    @Test
    void readsGroupsFiltersAndCacheRulesAsWell() throws IOException {
        rule("a.yaml", """
                origins: [{name: shop, hosts: ["http://10.0.0.1:80"]}]
                filters: [{name: inside, action: allow, src_ip: 10.0.0.0/8}]
                cache_rules: [{suffix: css, ttl_in_cache: 1h}]
                remap: [{map: http://shop.example/, to: http://shop/, origins: shop, filters: inside}]
                """);
        ProxyConfig config = load("rules.d").config();
        assertNotNull(config, () -> text("rules.d"));
        assertEquals("shop", config.originGroups().get(0).name());
        assertEquals(1, config.cacheRules().size());
        assertEquals(2, config.remap().size());
    }

    private String text(String include) {
        try {
            return load(include).text();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void filesThatAreTooLongTogetherAreNamedAndNotRead() throws IOException {
        String line = "#".repeat(127) + "\n";
        String half = line.repeat(ConfigDocument.LENGTH_MAX / line.length() / 2);
        rule("a.yaml", half);
        Path b = rule("b.yaml", half);
        List<ConfigProblem> problems = load("rules.d").problems();

        assertEquals(1, problems.size());
        String text = problems.get(0).text();
        assertTrue(text.startsWith(b + ": is too long: actual=16777"), text);
        assertTrue(text.endsWith(" bytes, limit=16MiB, for the file and its included files together"), text);
    }

    @Test
    void problemsNameTheIncludedFileAfterThoseOfTheFirst() throws IOException {
        Path a = rule("a.yaml", "remap:\n  - map: http://a.example/\n    too: http://o.example/\n");
        Path b = rule("b.yaml", "cache: {ram_size: 1GiB}\ninclude: more\nremap: []\nremap: []\n");
        Path c = rule("c.yaml", "remap: [\n");
        Path d = rule("d.yaml", "just words\n");
        Files.writeString(
                file, "include: rules.d\nlisten: [':1']\nremap: [{map: /, to: http://o.example/}]\nvia: {nam: x}\n");
        String only = " is not allowed in an included file, which can contain only remap, origins, filters, rules,"
                + " request_limits, cache_rules";
        List<String> lines = ConfigLoader.load(file, Map.of()).text().lines().toList();
        assertEquals(file + ":4:7: via.nam: unknown key (did you mean name?)", lines.get(0));
        assertEquals(a + ":3:5: remap[1].too: unknown key (did you mean to?)", lines.get(1));
        assertEquals(b + ":1:1: cache:" + only, lines.get(2));
        assertEquals(b + ":2:1: include:" + only, lines.get(3));
        assertEquals(b + ":4:1: remap: set twice; the first value is on line 3", lines.get(4));
        assertTrue(lines.get(5).startsWith(c + ":2:1: YAML: "), lines.get(5));
        assertEquals(
                d + ":1:1: an included file must consist of lists such as remap:, this is a single value",
                lines.get(6));
        assertEquals(7, lines.size(), () -> String.join("\n", lines));
    }

    @Test
    void missingFilesAndInvalidPatternsAreProblemsOfTheFirstFile() throws IOException {
        assertEquals(directory + "/gone.yaml: no such file", text("gone.yaml"));
        assertEquals(file + ":1:1: include: " + directory + "/gone: no such directory", text("gone/*.yaml"));
        assertEquals(
                file
                        + ":1:1: include: '*/a.yaml' has a pattern in a directory name; only the file name can be a pattern",
                text("'*/a.yaml'"));
        assertEquals(file + ":1:1: include: '" + "[a-.yaml" + "' is not a path or pattern", text("'[a-.yaml'"));
        assertEquals(file + ":1:1: include: m.yaml includes " + file + " itself", text("m.yaml"));
    }

    /** A symbolic link, another link, a hard link and another path: one file, whose rules are read once. */
    @Test
    void aFileWithSeveralNamesIsReadOnceAndBothGetTheResult() throws IOException {
        Path a = rule("a.yaml", RULE.formatted("a"));
        Files.createSymbolicLink(rules.resolve("b.yaml"), Path.of("a.yaml"));
        Files.createLink(rules.resolve("c.yaml"), a);
        Files.createSymbolicLink(directory.resolve("enabled"), rules);
        rule("d.yaml", RULE.formatted("d"));
        ConfigResult result = load("[rules.d, enabled/a.yaml]");
        assertEquals(List.of("/", "http://a.example/", "http://d.example/"), froms(result));
        String at = file + ":1:1: warning: include: ";
        String once = " is " + a + " by another name; the file is read once";
        assertEquals(
                at + rules + "/b.yaml" + once + "\n" + at + rules + "/c.yaml" + once + "\n" + at + directory
                        + "/enabled/a.yaml" + once,
                result.text());
        assertEquals(
                List.of("/", "http://a.example/"),
                froms(load("[rules.d/a.yaml, rules.d/../rules.d/a.yaml, '" + a + "']")),
                "one name, written in three ways");
    }

    @Test
    void theFileItselfIsNotIncludedByAnotherNameEither() throws IOException {
        Files.createSymbolicLink(directory.resolve("again.yaml"), file);
        assertEquals(
                file + ":1:1: include: again.yaml includes " + file + " itself, by the name " + directory
                        + "/again.yaml",
                text("again.yaml"));
    }

    @Test
    void stopsAtTheLimitOfFiles() throws IOException {
        for (int i = 0; i <= ConfigIncludes.FILES_MAX; i++) {
            rule(i + ".yaml", "");
        }
        assertEquals(file + ":1:1: include: rules.d exceeds the limit of 1000 files", text("rules.d"));
    }

    @Test
    void takesTheEnvironmentInIncludedFilesToo() throws IOException {
        rule("a.yaml", "remap: [{map: 'http://${MILLRACE_NOT_SET:from-environment}.example/', to: http://o/}]");
        assertEquals(List.of("/", "http://from-environment.example/"), froms(load("rules.d")));
    }

    @Test
    void aPassedDocumentNeedsNoFiles() throws IOException {
        Path a = rule("a.yaml", RULE.formatted("a"));
        ConfigDocument document = load("rules.d").document();
        Files.delete(a);
        Files.delete(file);
        assertNotNull(document);
        assertEquals(List.of("/", "http://a.example/"), froms(ConfigLoader.parse(document, Map.of(), Map.of())));
    }

    @Test
    void standsInAFileOnly() throws IOException {
        load("rules.d");
        assertEquals(
                "--set include: can only be set in a configuration file",
                ConfigLoader.load(file, Map.of("include", "rules.d")).text());
    }

    @Test
    void rulesSayWhereTheyStand() throws IOException {
        Path a = rule("a.yaml", RULE.formatted("a"));
        ProxyConfig config = load("rules.d").config();
        assertNotNull(config);
        assertEquals(a + ":1:9", config.values().get(ConfigKeys.REMAP).get(1).filePosition());
    }
}
