package io.millrace.proxy.config.yaml;

import io.millrace.proxy.config.ConfigCatalog;
import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.ValueType;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Formats the configuration keys as text: single keys, and the reference page {@code docs/reference/configuration.md}.
 */
public final class ConfigReference {
    private ConfigReference() {}

    /**
     * Describes one key, or all keys of a section, in lines of plain text.
     *
     * @return null if there is neither a key nor a section with this path
     */
    public static @Nullable String describe(String path) {
        ConfigKey<?> exact = ConfigCatalog.find(path);
        StringBuilder text = new StringBuilder();
        if (exact != null) {
            describe(exact, text);
        }
        for (ConfigKey<?> key : ConfigCatalog.keys()) {
            if (key.path().startsWith(path + ".") || key.path().startsWith(path + "[].")) {
                text.append(text.length() == 0 ? "" : "\n");
                describe(key, text);
            }
        }
        return text.length() == 0 ? null : text.toString();
    }

    private static void describe(ConfigKey<?> key, StringBuilder text) {
        text.append(key.path()).append('\n');
        text.append("  ").append(key.description()).append('\n');
        line(text, "type", key.type().name() + " (" + key.type().unit() + ")");
        line(text, "default", defaultOf(key));
        String bounds = bounds(key);
        if (bounds != null) {
            line(text, "bounds", bounds);
        }
        line(text, "change", key.apply().word());
        if (key.isPerRule()) {
            line(text, "per rule", "yes, also within an element of remap");
        }
        if (key.trafficServerName() != null) {
            line(text, "in ATS", key.trafficServerName());
        }
    }

    private static void line(StringBuilder text, String name, String value) {
        text.append("  ")
                .append(name)
                .append(" ".repeat(10 - name.length()))
                .append(value)
                .append('\n');
    }

    private static String defaultOf(ConfigKey<?> key) {
        String text = key.defaultText();
        return text != null ? text : key.isRequired() ? "none, it must be set" : "none";
    }

    private static @Nullable String bounds(ConfigKey<?> key) {
        return key.minText() == null
                ? null
                : (key.allowsZero() ? "0, or " : "") + key.minText() + " to " + key.maxText();
    }

    /** Returns the reference page as Markdown. */
    public static String page() {
        StringBuilder page = new StringBuilder(INTRODUCTION);
        Set<String> sections = new LinkedHashSet<>();
        for (ConfigKey<?> key : ConfigCatalog.keys()) {
            sections.add(topLevel(key));
        }
        Map<String, String> sentences = ConfigCatalog.sections();
        for (String section : sections) {
            page.append("\n## ").append(section).append("\n\n");
            String sentence = sentences.get(section);
            if (sentence != null) {
                page.append(sentence).append("\n\n");
            }
            page.append("| key | takes | default | bounds | change | what it does | in ATS |\n");
            page.append("|---|---|---|---|---|---|---|\n");
            for (ConfigKey<?> key : ConfigCatalog.keys()) {
                if (topLevel(key).equals(section)) {
                    row(key, page);
                }
            }
        }
        return page.toString();
    }

    private static void row(ConfigKey<?> key, StringBuilder page) {
        String bounds = bounds(key);
        String ats = key.trafficServerName();
        List<String> cells = List.of(
                "`" + key.path() + "`" + (key.isPerRule() ? " *" : ""),
                key.type() == ValueType.LIST
                        ? "list"
                        : key.type().name() + ": " + key.type().unit(),
                defaultOf(key),
                bounds == null ? "" : bounds,
                key.apply().word(),
                key.description(),
                ats == null ? "" : "`" + ats + "`");
        for (String cell : cells) {
            page.append("| ").append(cell.replace("|", "\\|")).append(cell.isEmpty() ? "" : " ");
        }
        page.append("|\n");
    }

    private static String topLevel(ConfigKey<?> key) {
        String path = key.path();
        int end = 0;
        while (end < path.length() && path.charAt(end) != '.' && path.charAt(end) != '[') {
            end++;
        }
        return path.substring(0, end);
    }

    private static final String INTRODUCTION = """
            # Configuration

            <!-- Written from the catalogue of keys by ConfigReferenceTest; edit the classes of keys. -->

            Millrace reads one YAML file, `millrace.yaml`. A small one is enough:

            ```yaml
            listen: [":8080"]
            remap:
              - map: /
                to: http://127.0.0.1:9000
            ```

            - Every size and every duration has a unit: `512MiB`, `1.5GiB`, `30s`, `1h30m`. Only `0` needs none. Sizes take
              `B`, `KiB`, `MiB`, `GiB`, `TiB` (1024) and `kB`, `MB`, `GB`, `TB` (1000); a single letter, as in `4G`, counts
              by 1024 as it does in Traffic Server. Durations take `ns`, `us`, `ms`, `s`, `m` or `min`, `h`, `d`, `w`.
            - A value may come from the environment: `${NAME}` or `${NAME:default}`. `$${` stands for `${`. Keys are never
              replaced, and a variable's value is never read as YAML.
            - `--set KEY=VALUE` on the command line sets any key and overrides the file. A list is set as a whole:
              `--set 'listen=[":8080", ":8081"]'`.
            - `include` names further files with rules. `millctl config set` changes a key while the proxy runs, `millctl config
              describe` shows the same information about one key, with its present value: see
              [operating.md](../guide/operating.md#change-the-configuration).
            - No value contains a secret: keys name the files that contain secrets.
            - Anchors, aliases and merge keys work: `<<: *name` adds the keys that a section does not set itself. A section can
              merge at most 100 others; all aliases together may expand to at most 64 MiB.
            - Regular expressions have RE2 syntax and run in linear time. One may have at most 65536 characters, 100 levels of
              groups, and a compiled program of 20000 steps, of which 4000 may be branches. All regular expressions together may
              have 1000000 steps.
            - The file and its included files may have at most 16 MiB in total; at most 1000 problems are shown.
            - Values of the type `word` are accepted in upper and lower case, and with hyphens instead of underscores: `http-01`
              means `http_01`. Names that you choose are compared exactly. If Traffic Server has numbers for the words of a
              key, the numbers are accepted too.
            - A relative path is relative to the directory of the file that names it.
            - The column `change` shows how a new value is applied. *live*: by the running worker, also to open connections and
              tunnels. *rolling*: by a new worker, while the old one finishes its requests. *relaunch*: by a new
              launcher, see [upgrade and relaunch](../guide/operating.md#upgrade-and-relaunch). No connection is refused in any
              of these cases, unlike after `systemctl restart`. A request in progress keeps its remap rule and the settings of
              that rule; changed limits and timeouts can apply to it at once.
            - Keys with a star can also be set in an element of `remap`, under the same name. Such a value applies only to the
              requests of that rule.

            [configuring-sites.md](../guide/configuring-sites.md) explains which rule a request gets, and the equivalents of lines
            of Traffic Server's remap.config. [access.md](../guide/access.md) explains the access of clients.
            """;
}
