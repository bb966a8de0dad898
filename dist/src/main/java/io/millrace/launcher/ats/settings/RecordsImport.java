package io.millrace.launcher.ats.settings;

import io.millrace.launcher.ats.draft.ImportState;
import io.millrace.launcher.ats.source.RecordTable;
import io.millrace.launcher.ats.source.Records;
import io.millrace.launcher.ats.source.Records.Rec;
import io.millrace.launcher.ats.source.Yaml;
import io.millrace.launcher.importing.source.Entry;
import io.millrace.launcher.importing.source.Quantity;
import io.millrace.launcher.importing.source.SourceFile;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.nodes.MappingNode;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.NodeTuple;
import org.snakeyaml.engine.v2.nodes.ScalarNode;
import org.snakeyaml.engine.v2.nodes.Tag;

/** The importer of Traffic Server's records.yaml or records.config into {@link Records}. Confined to one thread. */
public final class RecordsImport {
    private static final Pattern LINE = Pattern.compile(
            "\\s*(CONFIG|LOCAL)\\s+(\\S+)\\s+(INT|FLOAT|STRING|LLONG|COUNTER)(?:\\s+(.*))?", Pattern.DOTALL);
    private static final String CONFIG = "proxy.config.";

    private final ImportState state;

    /** Creates an import from {@code state}; {@link #read} does the work. */
    public RecordsImport(ImportState state) {
        this.state = state;
    }

    /** Reads the file, if it exists. */
    public void read() {
        SourceFile yaml = state.read("records.yaml");
        SourceFile lines = state.read("records.config");
        if (yaml != null) {
            readYaml(yaml);
            if (lines != null) {
                state.markNotMapped(
                        "records.config", "the file is not used: Traffic Server 10 reads records.yaml, which exists");
                lines.entries().forEach(entry -> entry.note("rename or delete one of the two files"));
            }
        } else if (lines != null) {
            readLines(lines);
        }
    }

    private void readLines(SourceFile file) {
        for (int i = 0; i < file.lines().size(); i++) {
            String line = file.lines().get(i);
            if (line.isBlank() || line.strip().startsWith("#")) {
                continue;
            }
            int column = line.length() - line.stripLeading().length() + 1;
            Entry entry = file.entry(i + 1, i + 1, column, line);
            Matcher matcher = LINE.matcher(line.stripTrailing());
            if (!matcher.matches()) {
                file.problem(entry, "the line is not a record; the form is: CONFIG proxy.config.NAME INT 1");
                continue;
            }
            String value =
                    matcher.group(4) == null ? null : unquoted(matcher.group(4).strip());
            put(file, entry, matcher.group(2), value, matcher.group(3));
        }
    }

    private static String unquoted(String text) {
        boolean quoted = text.length() >= 2 && text.startsWith("\"") && text.endsWith("\"");
        return quoted ? text.substring(1, text.length() - 1) : text;
    }

    private void readYaml(SourceFile file) {
        Node root = Yaml.root(file);
        Node records = Yaml.value(root, "records");
        if (root != null && !(records instanceof MappingNode)) {
            file.problem(1, 1, "the file has no section records:");
            return;
        }
        for (Map.Entry<String, NodeTuple> pair : Yaml.pairs(root).entrySet()) {
            if (pair.getKey().equals("records")) {
                Yaml.section(file, pair.getValue().getKeyNode());
                readSection(file, "", pair.getValue().getValueNode());
            } else {
                Yaml.entry(file, pair.getValue().getKeyNode(), pair.getValue().getValueNode())
                        .notMapped("the entry is not in the section records:, the only one that Traffic Server reads");
            }
        }
    }

    private void readSection(SourceFile file, String path, Node section) {
        for (Map.Entry<String, NodeTuple> pair : Yaml.pairs(section).entrySet()) {
            Node key = pair.getValue().getKeyNode();
            Node value = pair.getValue().getValueNode();
            String name = path.isEmpty() ? pair.getKey() : path + "." + pair.getKey();
            if (value instanceof MappingNode mapping) {
                if (Yaml.line(key) == Yaml.line(value)) {
                    // A flow mapping is on the line of its key, perhaps with several records.
                    file.markProcessed(Yaml.line(key), Yaml.lastLine(value));
                }
                Yaml.section(file, key);
                readSection(file, name, mapping);
                continue;
            }
            Entry entry = Yaml.entry(file, key, value);
            if (value instanceof ScalarNode scalar) {
                boolean noValue =
                        scalar.getTag().equals(Tag.NULL) || scalar.getValue().isEmpty();
                put(file, entry, CONFIG + name, noValue ? null : scalar.getValue(), "");
            } else {
                file.problem(entry, CONFIG + name + " must be one value");
            }
        }
    }

    private void put(SourceFile file, Entry entry, String name, @Nullable String value, String type) {
        String valueOrNull = value == null || value.equals("NULL") ? null : value;
        try {
            if (valueOrNull != null && (type.equals("INT") || type.equals("LLONG"))) {
                Quantity.integer(valueOrNull);
            } else if (valueOrNull != null && type.equals("FLOAT")) {
                Quantity.decimal(valueOrNull);
            }
            String key = name.startsWith(CONFIG) ? name.substring(CONFIG.length()) : name;
            state.records().put(new Rec(renamed(key), valueOrNull, file, entry));
        } catch (Quantity.BadValueException e) {
            file.problem(entry, name + ": " + e.getMessage());
        }
    }

    /** Returns the current name of a record that was renamed between versions. */
    private static String renamed(String name) {
        return switch (name) {
            case "exec_thread.autoconfig" -> "exec_thread.autoconfig.enabled";
            case "http.origin_max_connections" -> "http.per_server.connection.max";
            default -> name;
        };
    }

    /**
     * Converts the records that no other import has processed, by {@link RecordTable} or {@link RecordNotes}.
     *
     * @param httpsOrigins whether any origin is reached by https
     */
    public void finish(boolean httpsOrigins) {
        if (httpsOrigins) {
            new OriginTlsImport(state).readRecords();
        }
        for (Rec rec : state.records().unprocessed()) {
            RecordTable.Mapping mapping = RecordTable.find(rec.name());
            if (!httpsOrigins
                    && rec.value() != null
                    && rec.name().startsWith("ssl.client.")
                    && !rec.name().equals("ssl.client.certification_level")) {
                rec.entry().note("no rule has an https origin");
            } else if (mapping != null) {
                writeKeys(rec, mapping);
            } else {
                RecordNotes.explain(rec.name(), rec.value(), rec.entry());
            }
        }
        state.draft()
                .setDefault(
                        "cache.heuristic_without_last_modified",
                        "true",
                        "it has no such setting and always behaves so");
        state.draft()
                .setDefault(
                        "cache.guessed_lifetime_with_cookies", "all", "it has no such setting and always behaves so");
        state.draft().setDefault("cache.unshared_fields", "[Set-Cookie]", "it never stores Set-Cookie");
        state.draft().setDefault("cache.leak_guard", "warn", "it has no leak guard");
        for (RecordTable.Mapping mapping : RecordTable.all()) {
            String trafficServerDefault = trafficServerDefault(mapping);
            if (trafficServerDefault != null && !state.records().isSet(mapping.name())) {
                setDefault(mapping, trafficServerDefault);
            }
        }
    }

    /**
     * Returns Traffic Server's default of a record if Millrace has another default; null otherwise. Versions before 10
     * have a higher limit of header size. Versions after 10 have Millrace's default for targeted Cache-Control fields.
     */
    private @Nullable String trafficServerDefault(RecordTable.Mapping mapping) {
        if (mapping.name().equals("http.cache.targeted_cache_control_headers") && state.isAfterVersion10()) {
            return null;
        }
        boolean isHeaderLimit =
                mapping.name().endsWith("_header_max_size") && mapping.name().startsWith("http.");
        return isHeaderLimit && !state.has("records.yaml") ? "131072" : mapping.atsDefault();
    }

    private void writeKeys(Rec rec, RecordTable.Mapping mapping) {
        String value = rec.value();
        if (value == null) {
            rec.entry().note("the record is empty; Traffic Server's default applies");
            return;
        }
        try {
            for (String key : mapping.keys()) {
                List<String> words = mapping.words(value);
                if (words != null) {
                    state.draft().set(key, words, rec.entry());
                } else {
                    boolean file = key.equals("dns.hosts_file");
                    state.draft()
                            .set(
                                    key,
                                    file ? state.resolveInConfigDirectory(value) : mapping.convert(key, value),
                                    rec.entry());
                }
            }
            if (!mapping.note().isEmpty()) {
                rec.entry().note(mapping.note());
            }
        } catch (Quantity.BadValueException e) {
            rec.file().problem(rec.entry(), CONFIG + rec.name() + ": " + e.getMessage());
        }
    }

    private void setDefault(RecordTable.Mapping mapping, String trafficServerDefault) {
        try {
            for (String key : mapping.keys()) {
                state.draft().setDefault(key, mapping.convert(key, trafficServerDefault), CONFIG + mapping.name());
            }
        } catch (Quantity.BadValueException e) {
            throw new IllegalStateException(mapping.name(), e);
        }
    }
}
