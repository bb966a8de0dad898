package io.millrace.launcher.ats.settings;

import io.millrace.launcher.ats.draft.ImportState;
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
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.NodeTuple;

/**
 * The importer of Traffic Server's logs, from logging.yaml or logs_xml.config and from records. Writes one access log
 * or a list of logs. Confined to one thread.
 */
public final class LogImport {
    /** The Squid format of Traffic Server as a template. */
    private static final String SQUID =
            "%<cqtq> %<ttms> %<chi> %<crc>/%<pssc> %<psql> %<cqhm> %<pquc> %<caun> %<phr>/%<shn> %<psct>";

    private static final String COMMON = "%<chi> - %<caun> [%<cqtn>] \"%<cqhm> %<pqu> %<cqpv>\" %<pssc> %<pscl>";
    private static final Pattern OBJECT =
            Pattern.compile("<(LogFormat|LogFilter|LogObject)>(.*?)</\\1>", Pattern.DOTALL | Pattern.CASE_INSENSITIVE);
    private static final Pattern CODE = Pattern.compile("%<([^>]+)>");
    private static final Pattern FIELD = Pattern.compile("<(\\w+)\\s*=\\s*\"(.*?)\"\\s*/>", Pattern.DOTALL);
    /** Values of logging_enabled that log no requests. */
    private static final List<String> OFF = List.of("0", "1");

    private static final Pattern COMMENT = Pattern.compile("<!--.*?-->", Pattern.DOTALL);

    private record Format(Entry entry, String text) {}

    private record Filter(Entry entry, String action, String condition) {}

    private final ImportState state;
    private final Map<String, Format> formats = new HashMap<>();
    private final Map<String, Filter> filters = new LinkedHashMap<>();
    private final List<LogObject> logs = new ArrayList<>();
    /** The single log that is written; null if there is none, or if several logs are written as a list. */
    private @Nullable LogObject chosen;
    /** True if several logs are written as a list. */
    private boolean hasList;

    /** Creates an import from {@code state}; {@link #read} does the work. */
    public LogImport(ImportState state) {
        this.state = state;
    }

    /** Imports the files and the log records. */
    public void read() {
        SourceFile yaml = state.read("logging.yaml");
        if (yaml != null) {
            readYaml(yaml);
        }
        SourceFile xml = state.read("logs_xml.config");
        if (xml != null) {
            readXml(xml);
        }
        state.markNotMapped(
                "logging.config", "logs described in Lua are not imported; set log.access, see docs/reference/logs.md");
        writeLogs();
        importStandardLogs();
        importEnabled();
        if (!hasList) {
            setFile();
            writeRotation();
        }
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
                        addFormat(
                                entry,
                                Yaml.text(node, "name"),
                                Yaml.text(node, "format"),
                                !Yaml.text(node, "interval").isEmpty());
                    case "logs" -> {
                        Map<String, String> rolling = new HashMap<>();
                        Yaml.pairs(node).forEach((name, pair) -> rolling.put(name, Yaml.text(pair.getValueNode())));
                        logs.add(new LogObject(
                                entry,
                                Yaml.text(node, "format"),
                                Yaml.text(node, "filename"),
                                Yaml.text(node, "mode"),
                                rolling,
                                Yaml.words(Yaml.value(node, "filters"))));
                    }
                    default ->
                        filters.put(
                                Yaml.text(node, "name"),
                                new Filter(entry, Yaml.text(node, "action"), Yaml.text(node, "condition")));
                }
            }
        }
    }

    private void readXml(SourceFile file) {
        String text = String.join("\n", file.lines());
        Matcher comments = COMMENT.matcher(text);
        StringBuilder bare = new StringBuilder();
        while (comments.find()) {
            file.markProcessed(lineOf(text, comments.start()), lineOf(text, comments.end() - 1));
            comments.appendReplacement(
                    bare, Matcher.quoteReplacement(comments.group().replaceAll("[^\\n]", " ")));
        }
        comments.appendTail(bare);
        Matcher objects = OBJECT.matcher(bare);
        boolean on = state.records().isOn("log.custom_logs_enabled", true);
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
                addFormat(
                        entry,
                        fields.getOrDefault("name", ""),
                        fields.getOrDefault("format", ""),
                        fields.containsKey("interval"));
            } else if (kind.equals("logobject")) {
                logs.add(new LogObject(
                        entry,
                        fields.getOrDefault("format", ""),
                        fields.getOrDefault("filename", ""),
                        fields.getOrDefault("mode", "binary"),
                        Map.of(),
                        RecordTable.split(fields.getOrDefault("filters", ""))));
            } else {
                filters.put(
                        fields.getOrDefault("name", ""),
                        new Filter(entry, fields.getOrDefault("action", ""), fields.getOrDefault("condition", "")));
            }
        }
    }

    private static int lineOf(String text, int index) {
        return 1 + (int) text.substring(0, index).chars().filter(c -> c == '\n').count();
    }

    private void addFormat(Entry entry, String name, String text, boolean aggregated) {
        if (aggregated) {
            entry.notMapped("sums over an interval are not logged; see the metrics");
        }
        formats.put(name, new Format(entry, text));
    }

    private void writeLogs() {
        List<LogObject> toFiles = new ArrayList<>();
        for (LogObject log : logs) {
            if (log.isPipe()) {
                log.entry()
                        .notMapped(
                                "Millrace writes to no pipe; log.access[].target can be file, syslog, journald or stdout");
            } else {
                toFiles.add(log);
            }
        }
        Set<String> formatsUsed = new HashSet<>();
        Set<String> filtersUsed = new HashSet<>();
        for (LogObject log : toFiles) {
            formatsUsed.add(log.format());
            filtersUsed.addAll(log.filters());
        }
        formats.forEach((name, format) -> noteUnused(format.entry, formatsUsed.contains(name)));
        filters.forEach((name, filter) -> noteUnused(filter.entry, filtersUsed.contains(name)));
        if (needsList(toFiles)) {
            writeList(toFiles);
        } else if (!toFiles.isEmpty()) {
            chosen = toFiles.get(0);
            toFiles.stream().skip(1).forEach(log -> log.entry().note("proxy.config.log.logging_enabled is off"));
            write(toFiles.get(0));
        }
    }

    private static void noteUnused(Entry entry, boolean isUsed) {
        if (!isUsed) {
            entry.note("no imported log uses the entry");
        }
    }

    private boolean needsList(List<LogObject> toFiles) {
        boolean isOn =
                !OFF.contains(state.records().value("log.logging_enabled", "3").strip());
        String frequency = state.records().value("log.sampling_frequency", "1").strip();
        boolean isSampled = !List.of("0", "1", "").contains(frequency);
        boolean isFiltered = toFiles.stream().anyMatch(log -> !log.filters().isEmpty());
        return isOn && !toFiles.isEmpty() && (toFiles.size() > 1 || isFiltered || isSampled);
    }

    private void writeList(List<LogObject> toFiles) {
        LogList list = new LogList(state);
        hasList = true;
        for (LogObject log : toFiles) {
            Format format = formats.get(log.format());
            String text = knownFormat(format == null ? log.format() : format.text);
            if (format == null && !List.of("squid", "common").contains(text)) {
                log.entry()
                        .notMapped("no format '" + log.format() + "' exists; log.access[].format accepts a template");
                continue;
            }
            List<String> conditions = new ArrayList<>();
            List<Entry> entries = new ArrayList<>();
            for (String name : log.filters()) {
                Filter filter = filters.get(name);
                if (filter == null) {
                    log.entry().notMapped("no filter '" + name + "' exists");
                    continue;
                }
                try {
                    conditions.add(LogFilterText.of(filter.action, filter.condition));
                    entries.add(filter.entry);
                } catch (LogFilterText.NoEquivalentException e) {
                    filter.entry.notMapped(String.valueOf(e.getMessage()));
                    log.entry().notMapped("without its filter " + name + ", this log has more lines or values");
                }
            }
            list.write(log, text, format == null ? null : format.entry, joined(conditions), entries);
        }
    }

    /**
     * Joins the conditions of filters by AND. A log of Traffic Server contains the requests that pass all its filters.
     */
    private static String joined(List<String> conditions) {
        if (conditions.size() == 1) {
            return conditions.get(0);
        }
        List<String> parts = new ArrayList<>();
        for (String condition : conditions) {
            parts.add(condition.contains(" || ") && !condition.startsWith("!") ? "(" + condition + ")" : condition);
        }
        return String.join(" && ", parts);
    }

    private static String knownFormat(String text) {
        String current = currentCodes(text);
        if (current.isEmpty() || current.equals(SQUID) || current.equals("squid")) {
            return "squid";
        }
        return current.equals(COMMON) || current.equals("common") ? "common" : current;
    }

    private void write(LogObject log) {
        Format format = formats.get(log.format());
        String logFormat = knownFormat(format == null ? log.format() : format.text);
        if (format == null && !List.of("squid", "common").contains(logFormat)) {
            log.entry().notMapped("no format '" + log.format() + "' exists; log.access.format accepts a template");
            return;
        }
        if (log.isBinary()) {
            state.draft().set("log.access.format", "binary", log.entry());
            state.draft().set("log.access.fields", codesOf(logFormat), log.entry());
        } else {
            state.draft().set("log.access.format", logFormat, log.entry());
        }
        DraftNode node = state.draft().root().find("log.access.format");
        if (format != null && node != null) {
            node.from(format.entry);
        } else if (format != null) {
            format.entry.matchesDefaultOf("log.access.format");
        }
    }

    /** Returns the codes of a format, which are the fields of a binary log. */
    static List<String> codesOf(String format) {
        String template = format.equals("squid") ? SQUID : format.equals("common") ? COMMON : format;
        Set<String> codes = new LinkedHashSet<>();
        Matcher code = CODE.matcher(template);
        while (code.find()) {
            codes.add(code.group(1));
        }
        return List.copyOf(codes);
    }

    /** Replaces field codes of older versions by the codes that Millrace supports. */
    private static String currentCodes(String text) {
        return text.strip().replace("%<cquc>", "%<pquc>").replace("%<cqtx>", "%<cqhm> %<pqu> %<cqpv>");
    }

    /** Imports the records that enabled the standard log formats until version 5 of Traffic Server. */
    private void importStandardLogs() {
        boolean common = !hasList
                && state.records().isOn("log.common_log_enabled", false)
                && !state.records().isOn("log.squid_log_enabled", true);
        Rec rec = common && chosen == null ? state.records().getAndMarkProcessed("log.common_log_enabled") : null;
        if (rec != null) {
            state.draft().set("log.access.format", "common", rec.entry());
        }
    }

    private void importEnabled() {
        Rec rec = state.records().getAndMarkProcessed("log.logging_enabled");
        if (rec != null && rec.value() != null) {
            boolean requests = !OFF.contains(rec.value().strip());
            state.draft().set("log.access.enabled", Boolean.toString(requests), rec.entry());
        } else if (rec != null) {
            rec.entry().note("the record is empty; Traffic Server's default applies");
        }
    }

    private void setFile() {
        Rec directory = state.records().getAndMarkProcessed("log.logfile_dir");
        LogObject log = chosen;
        if (directory == null || directory.value() == null) {
            if (directory != null) {
                directory.entry().note("the record is empty");
            }
            if (log != null && !log.filename().isEmpty()) {
                log.entry()
                        .note("the file is access." + (log.isBinary() ? "blog" : "log")
                                + " in the log directory; log.access.path names another");
            }
            return;
        }
        String file = log == null ? "squid.log" : log.file();
        DraftNode node = state.draft()
                .root()
                .put("log.access.path", state.resolveInInstallPrefix(directory.value() + "/" + file))
                .from(directory.entry());
        if (log != null) {
            node.from(log.entry());
        }
    }

    private void writeRotation() {
        Rec mode = state.records().getAndMarkProcessed("log.rolling_enabled");
        Rec interval = state.records().getAndMarkProcessed("log.rolling_interval_sec");
        Rec size = state.records().getAndMarkProcessed("log.rolling_size_mb");
        try {
            LogObject log = chosen;
            Map<String, String> logRolling = log == null ? Map.of() : log.rolling();
            long rollingMode =
                    Quantity.integer(logRolling.getOrDefault("rolling_enabled", mode == null ? "1" : value(mode, "1")));
            long seconds = Quantity.integer(logRolling.getOrDefault(
                    "rolling_interval_sec", interval == null ? "86400" : value(interval, "86400")));
            long megabytes = Quantity.integer(
                    logRolling.getOrDefault("rolling_size_mb", size == null ? "10" : value(size, "10")));
            writeRotationKey(
                    "log.access.rotate_interval",
                    rollingMode == 0 || rollingMode == 2 ? "0" : Quantity.seconds(seconds),
                    logRolling.containsKey("rolling_interval_sec") || logRolling.containsKey("rolling_enabled")
                            ? log
                            : null,
                    mode,
                    interval);
            writeRotationKey(
                    "log.access.rotate_size",
                    rollingMode == 0 || rollingMode == 1 ? "0" : Quantity.size(megabytes << 20),
                    logRolling.containsKey("rolling_size_mb") || logRolling.containsKey("rolling_enabled") ? log : null,
                    mode,
                    size);
            if (rollingMode == 4 && mode != null) {
                mode.entry().note("the file is rotated by time and by size, whichever comes first");
            }
        } catch (BadValueException e) {
            Rec bad = mode != null ? mode : interval != null ? interval : size;
            if (bad != null) {
                bad.file().problem(bad.entry(), "proxy.config.log.rolling: " + e.getMessage());
            }
        }
    }

    private static String value(Rec rec, String defaultValue) {
        return rec.value() == null ? defaultValue : rec.value();
    }

    private void writeRotationKey(
            String key, String text, @Nullable LogObject log, @Nullable Rec mode, @Nullable Rec amount) {
        boolean isSet = log != null || mode != null || amount != null;
        if (!isSet) {
            state.draft().setDefault(key, text, "proxy.config.log.rolling_enabled");
            return;
        }
        for (Rec rec : new Rec[] {mode, amount}) {
            if (rec != null) {
                state.draft().set(key, text, rec.entry());
            }
        }
        if (log != null) {
            state.draft().set(key, text, log.entry());
        }
    }
}
