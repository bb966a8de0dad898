package io.millrace.launcher.ats.settings;

import io.millrace.launcher.ats.draft.Input;
import io.millrace.launcher.ats.source.RecordTable;
import io.millrace.launcher.ats.source.Records.Rec;
import io.millrace.launcher.ats.source.Yaml;
import io.millrace.launcher.importing.draft.DraftNode;
import io.millrace.launcher.importing.source.Entry;
import io.millrace.launcher.importing.source.Quantity;
import io.millrace.launcher.importing.source.Quantity.BadValueException;
import io.millrace.launcher.importing.source.SourceFile;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.NodeTuple;

/** Imports logging.yaml or logs_xml.config, and the log records, into the single access log. */
public final class LogImport {
    private static final String SQUID =
            "%<cqtq> %<ttms> %<chi> %<crc>/%<pssc> %<psql> %<cqhm> %<pquc> %<caun> %<phr>/%<shn> %<psct>";
    private static final String COMMON = "%<chi> - %<caun> [%<cqtn>] \"%<cqhm> %<pqu> %<cqpv>\" %<pssc> %<pscl>";
    private static final Pattern OBJECT =
            Pattern.compile("<(LogFormat|LogFilter|LogObject)>(.*?)</\\1>", Pattern.DOTALL | Pattern.CASE_INSENSITIVE);
    private static final Pattern FIELD = Pattern.compile("<(\\w+)\\s*=\\s*\"(.*?)\"\\s*/>", Pattern.DOTALL);
    private static final Pattern COMMENT = Pattern.compile("<!--.*?-->", Pattern.DOTALL);

    /** A log object of the imported files. */
    private record Log(
            Entry entry,
            String format,
            String filename,
            String mode,
            Map<String, String> rolling,
            List<String> filters) {}

    private record Format(Entry entry, String text) {}

    private final Input input;
    private final Map<String, Format> formats = new HashMap<>();
    private final Map<String, Entry> filters = new LinkedHashMap<>();
    private final List<Log> logs = new ArrayList<>();
    private @Nullable Log chosen;

    /** Creates an import from {@code input}; {@link #read} does the work. */
    public LogImport(Input input) {
        this.input = input;
    }

    /** Imports the files and the log records. */
    public void read() {
        SourceFile yaml = input.read("logging.yaml");
        if (yaml != null) {
            readYaml(yaml);
        }
        SourceFile xml = input.read("logs_xml.config");
        if (xml != null) {
            readXml(xml);
        }
        input.name(
                "logging.config", "logs described in Lua are not imported; set log.access, see docs/reference/logs.md");
        choose();
        oldNames();
        enabled();
        place();
        rotation();
    }

    private void readYaml(SourceFile file) {
        Node root = Yaml.root(file);
        NodeTuple top = Yaml.pairs(root).get("logging");
        if (top != null) {
            Yaml.section(file, top.getKeyNode());
        }
        for (Map.Entry<String, NodeTuple> part :
                Yaml.pairs(top == null ? root : top.getValueNode()).entrySet()) {
            Yaml.section(file, part.getValue().getKeyNode());
            for (Node node : Yaml.elements(part.getValue().getValueNode())) {
                if (Yaml.pairs(node).isEmpty()) {
                    continue;
                }
                Entry entry = Yaml.entry(file, node, node);
                switch (part.getKey()) {
                    case "formats" ->
                        format(
                                entry,
                                Yaml.text(node, "name"),
                                Yaml.text(node, "format"),
                                !Yaml.text(node, "interval").isEmpty());
                    case "logs" -> {
                        Map<String, String> rolling = new HashMap<>();
                        Yaml.pairs(node).forEach((name, pair) -> rolling.put(name, Yaml.text(pair.getValueNode())));
                        logs.add(new Log(
                                entry,
                                Yaml.text(node, "format"),
                                Yaml.text(node, "filename"),
                                Yaml.text(node, "mode"),
                                rolling,
                                Yaml.words(Yaml.value(node, "filters"))));
                    }
                    default -> filters.put(Yaml.text(node, "name"), entry);
                }
            }
        }
    }

    private void readXml(SourceFile file) {
        String text = String.join("\n", file.lines());
        Matcher comments = COMMENT.matcher(text);
        StringBuilder bare = new StringBuilder();
        while (comments.find()) {
            file.claim(lineOf(text, comments.start()), lineOf(text, comments.end() - 1));
            comments.appendReplacement(
                    bare, Matcher.quoteReplacement(comments.group().replaceAll("[^\\n]", " ")));
        }
        comments.appendTail(bare);
        Matcher objects = OBJECT.matcher(bare);
        boolean on = input.records().isOn("log.custom_logs_enabled", true);
        while (objects.find()) {
            String kind = objects.group(1).toLowerCase(Locale.ROOT);
            Entry entry = file.entry(
                    lineOf(text, objects.start()),
                    lineOf(text, objects.end() - 1),
                    1,
                    objects.group().replaceAll("\\s+", " "));
            Map<String, String> fields = new HashMap<>();
            Matcher field = FIELD.matcher(objects.group(2));
            while (field.find()) {
                fields.put(
                        field.group(1).toLowerCase(Locale.ROOT),
                        field.group(2).replace("\\\"", "\"").replace("&quot;", "\""));
            }
            if (!on) {
                entry.note("proxy.config.log.custom_logs_enabled is off");
            } else if (kind.equals("logformat")) {
                format(
                        entry,
                        fields.getOrDefault("name", ""),
                        fields.getOrDefault("format", ""),
                        fields.containsKey("interval"));
            } else if (kind.equals("logobject")) {
                logs.add(new Log(
                        entry,
                        fields.getOrDefault("format", ""),
                        fields.getOrDefault("filename", ""),
                        fields.getOrDefault("mode", "binary"),
                        Map.of(),
                        RecordTable.split(fields.getOrDefault("filters", ""))));
            } else {
                filters.put(fields.getOrDefault("name", ""), entry);
            }
        }
    }

    private static int lineOf(String text, int index) {
        return 1 + (int) text.substring(0, index).chars().filter(c -> c == '\n').count();
    }

    private void format(Entry entry, String name, String text, boolean aggregated) {
        if (aggregated) {
            entry.notMapped("sums over an interval are not logged; see the metrics");
        }
        formats.put(name, new Format(entry, text));
    }

    private void choose() {
        for (Log log : logs) {
            if (chosen == null && !log.mode.equals("ascii_pipe") && !log.mode.equals("pipe")) {
                chosen = log;
            } else {
                log.entry.notMapped(
                        log.mode.contains("pipe")
                                ? "lines are written to a file, which other programs can follow"
                                : "there is one access log, and that is "
                                        + (chosen == null ? "another" : chosen.entry.place()));
            }
        }
        Log log = chosen;
        for (Map.Entry<String, Format> format : formats.entrySet()) {
            if (log == null || !format.getKey().equals(log.format)) {
                format.getValue().entry.note("no imported log uses it");
            }
        }
        for (Map.Entry<String, Entry> filter : filters.entrySet()) {
            if (log != null && log.filters.contains(filter.getKey())) {
                filter.getValue().notMapped("lines of the access log are not filtered");
            } else {
                filter.getValue().note("no imported log uses it");
            }
        }
        if (log == null) {
            return;
        }
        if (!log.filters.isEmpty()) {
            log.entry.notMapped("lines of the access log are not filtered");
        }
        if (!log.mode.equals("ascii")) {
            log.entry.note("written as text; Millrace has no binary logs");
        }
        write(log);
    }

    private void write(Log log) {
        Format format = formats.get(log.format);
        String text = modern(format == null ? log.format : format.text);
        String known = text.isEmpty() || text.equals(SQUID) || text.equals("squid")
                ? "squid"
                : text.equals(COMMON) || text.equals("common") ? "common" : text;
        if (format == null && !List.of("squid", "common").contains(known)) {
            log.entry.notMapped("no format '" + log.format + "' exists; log.access.format accepts a template");
            return;
        }
        input.draft().set("log.access.format", known, log.entry);
        DraftNode node = input.draft().root().find("log.access.format");
        if (format != null && node != null) {
            node.from(format.entry);
        } else if (format != null) {
            format.entry.same("log.access.format");
        }
    }

    /** Replaces field codes of older versions by the codes that Millrace supports. */
    private static String modern(String text) {
        return text.strip().replace("%<cquc>", "%<pquc>").replace("%<cqtx>", "%<cqhm> %<pqu> %<cqpv>");
    }

    /** Imports the records that enabled the standard logs until version 5. */
    private void oldNames() {
        boolean common = input.records().isOn("log.common_log_enabled", false)
                && !input.records().isOn("log.squid_log_enabled", true);
        Rec rec = common && chosen == null ? input.records().take("log.common_log_enabled") : null;
        if (rec != null) {
            input.draft().set("log.access.format", "common", rec.entry());
        }
    }

    private void enabled() {
        Rec rec = input.records().take("log.logging_enabled");
        if (rec != null && rec.value() != null) {
            boolean requests = !List.of("0", "1").contains(rec.value().strip());
            input.draft().set("log.access.enabled", Boolean.toString(requests), rec.entry());
        } else if (rec != null) {
            rec.entry().note("is empty; Traffic Server's default applies");
        }
    }

    private void place() {
        Rec directory = input.records().take("log.logfile_dir");
        Log log = chosen;
        if (directory == null || directory.value() == null) {
            if (directory != null) {
                directory.entry().note("is empty");
            }
            if (log != null && !log.filename.isEmpty()) {
                log.entry.note("the file is access.log in the log directory; log.access.path names another");
            }
            return;
        }
        String name = log == null || log.filename.isEmpty() ? "squid" : log.filename;
        String file = name.contains(".") ? name : name + ".log";
        DraftNode node = input.draft()
                .root()
                .put("log.access.path", input.installed(directory.value() + "/" + file))
                .from(directory.entry());
        if (log != null) {
            node.from(log.entry);
        }
    }

    private void rotation() {
        Rec mode = input.records().take("log.rolling_enabled");
        Rec interval = input.records().take("log.rolling_interval_sec");
        Rec size = input.records().take("log.rolling_size_mb");
        try {
            Log log = chosen;
            Map<String, String> own = log == null ? Map.of() : log.rolling;
            long by = Quantity.integer(own.getOrDefault("rolling_enabled", mode == null ? "1" : value(mode, "1")));
            long seconds = Quantity.integer(
                    own.getOrDefault("rolling_interval_sec", interval == null ? "86400" : value(interval, "86400")));
            long megabytes =
                    Quantity.integer(own.getOrDefault("rolling_size_mb", size == null ? "10" : value(size, "10")));
            rotate(
                    "log.access.rotate_interval",
                    by == 0 || by == 2 ? "0" : Quantity.seconds(seconds),
                    own.containsKey("rolling_interval_sec") || own.containsKey("rolling_enabled") ? log : null,
                    mode,
                    interval);
            rotate(
                    "log.access.rotate_size",
                    by == 0 || by == 1 ? "0" : Quantity.size(megabytes << 20),
                    own.containsKey("rolling_size_mb") || own.containsKey("rolling_enabled") ? log : null,
                    mode,
                    size);
            if (by == 4 && mode != null) {
                mode.entry().note("the file is rotated by time and by size, whichever comes first");
            }
        } catch (BadValueException e) {
            Rec bad = mode != null ? mode : interval != null ? interval : size;
            if (bad != null) {
                bad.file().problem(bad.entry(), "proxy.config.log.rolling: " + e.getMessage());
            }
        }
    }

    private static String value(Rec rec, String otherwise) {
        return rec.value() == null ? otherwise : rec.value();
    }

    private void rotate(String key, String text, @Nullable Log log, @Nullable Rec mode, @Nullable Rec amount) {
        boolean isSet = log != null || mode != null || amount != null;
        if (!isSet) {
            input.draft().setDefault(key, text, "proxy.config.log.rolling_enabled");
            return;
        }
        for (Rec rec : new Rec[] {mode, amount}) {
            if (rec != null) {
                input.draft().set(key, text, rec.entry());
            }
        }
        if (log != null) {
            input.draft().set(key, text, log.entry);
        }
    }
}
