package io.millrace.launcher.ats.settings;

import io.millrace.launcher.ats.draft.ImportState;
import io.millrace.launcher.ats.source.Records.Rec;
import io.millrace.launcher.importing.draft.DraftNode;
import io.millrace.launcher.importing.source.Entry;
import io.millrace.launcher.importing.source.Quantity;
import io.millrace.launcher.importing.source.Quantity.BadValueException;
import io.millrace.proxy.config.ConfigCatalog;
import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.LogKeys;
import io.millrace.proxy.observe.log.AccessLogFormat;
import io.millrace.proxy.observe.log.LogTemplateException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The writer of access logs as a list in {@code log.access}. A list is needed for several logs, for filters and for
 * sampling. Confined to one thread.
 */
final class LogList {
    private static final int NAME_MAX = 32;

    private final ImportState state;
    private final List<AccessLogFormat> formats = new ArrayList<>();
    private final Set<String> names = new HashSet<>();
    private final @Nullable Rec directory;
    private final @Nullable Rec sampling;
    private final @Nullable Rec minCount;
    private final @Nullable Rec mode;
    private final @Nullable Rec interval;
    private final @Nullable Rec size;

    LogList(ImportState state) {
        this.state = state;
        directory = state.records().getAndMarkProcessed("log.logfile_dir");
        sampling = state.records().getAndMarkProcessed("log.sampling_frequency");
        minCount = state.records().getAndMarkProcessed("log.rolling_min_count");
        mode = state.records().getAndMarkProcessed("log.rolling_enabled");
        interval = state.records().getAndMarkProcessed("log.rolling_interval_sec");
        size = state.records().getAndMarkProcessed("log.rolling_size_mb");
    }

    /**
     * Writes one log.
     *
     * @param format template of the log, or the name of a format
     * @param formatEntry source lines of the format; null if it is not in the files
     * @param filter expression for the requests that are logged; empty for all
     * @param filterEntries source lines of the filters
     */
    void write(LogObject log, String format, @Nullable Entry formatEntry, String filter, List<Entry> filterEntries) {
        if (names.size() == LogKeys.LOGS_MAX) {
            log.entry().notMapped("log.access has at most " + LogKeys.LOGS_MAX + " logs");
            return;
        }
        if (log.filename().equals("stderr")) {
            log.entry().notMapped("lines are not written to standard error; the target stdout exists");
            return;
        }
        if (!tryAddFormat(format)) {
            log.entry().notMapped("all templates together name more than eight header fields");
            return;
        }
        DraftNode node = state.draft().addElement("log.access", log.entry());
        node.put("name", nameOf(log.filename()));
        if (log.isBinary()) {
            addSources(node.put("format", "binary"), log.entry(), formatEntry);
            addSources(node.putWords("fields", LogImport.codesOf(format)), log.entry(), formatEntry);
        } else if (!isDefault("format", format)) {
            addSources(node.put("format", format), log.entry(), formatEntry);
        } else if (formatEntry != null) {
            formatEntry.matchesDefaultOf("log.access[].format");
        }
        if (!filter.isEmpty()) {
            DraftNode condition = node.put("filter", filter);
            filterEntries.forEach(condition::from);
        }
        writeSampling(node);
        if (log.filename().equals("stdout")) {
            node.put("target", "stdout").from(log.entry());
            return;
        }
        if (directory != null && directory.value() != null) {
            node.put("path", state.resolveInInstallPrefix(directory.value() + "/" + log.file()))
                    .from(directory.entry());
        }
        writeRotation(node, log);
    }

    private static void addSources(DraftNode node, Entry log, @Nullable Entry other) {
        node.from(log);
        if (other != null) {
            node.from(other);
        }
    }

    /** Adds a format. Returns false if all templates together then name too many header fields. */
    private boolean tryAddFormat(String format) {
        List<AccessLogFormat> all = new ArrayList<>(formats);
        try {
            all.add(AccessLogFormat.of(format));
        } catch (LogTemplateException e) {
            // The later validation of the whole configuration reports the invalid template.
            return true;
        }
        try {
            AccessLogFormat.capturesOf(all);
        } catch (LogTemplateException e) {
            return false;
        }
        formats.add(all.get(all.size() - 1));
        return true;
    }

    /** Returns a valid and unique name of a log, made from its file name. */
    private String nameOf(String filename) {
        String base = (filename.isEmpty() ? "squid" : filename).replaceFirst("\\.(log|blog|pipe)$", "");
        String valid = base.replaceAll("[^A-Za-z0-9_-]", "_");
        String name = valid.substring(0, Math.min(NAME_MAX - 3, valid.length()));
        String unique = name;
        for (int i = 2; !names.add(unique); i++) {
            unique = name + "_" + i;
        }
        return unique;
    }

    private void writeSampling(DraftNode node) {
        if (sampling == null || sampling.value() == null) {
            return;
        }
        String rate = sampling.value().strip();
        if (isDefault("sample", rate) || rate.equals("0")) {
            sampling.entry().matchesDefaultOf("log.access[].sample");
        } else {
            node.put("sample", rate).from(sampling.entry());
        }
    }

    private void writeRotation(DraftNode node, LogObject log) {
        Map<String, String> logRolling = log.rolling();
        try {
            long rollingMode = Quantity.integer(logRolling.getOrDefault("rolling_enabled", value(mode, "1")));
            long seconds = Quantity.integer(logRolling.getOrDefault("rolling_interval_sec", value(interval, "86400")));
            long megabytes = Quantity.integer(logRolling.getOrDefault("rolling_size_mb", value(size, "10")));
            writeRotationKey(
                    node,
                    "rotate_interval",
                    rollingMode == 0 || rollingMode == 2 ? "0" : Quantity.seconds(seconds),
                    log,
                    interval);
            writeRotationKey(
                    node,
                    "rotate_size",
                    rollingMode == 0 || rollingMode == 1 ? "0" : Quantity.size(megabytes << 20),
                    log,
                    size);
            if (rollingMode == 4 && mode != null) {
                mode.entry().note("the file is rotated by time and by size, whichever comes first");
            }
            writeFileLimit(node, log);
        } catch (BadValueException e) {
            log.entry().notMapped("rotation: " + e.getMessage());
        }
    }

    private void writeRotationKey(DraftNode node, String name, String text, LogObject log, @Nullable Rec amount) {
        if (!isDefault(name, text)) {
            addSources(node.put(name, text), log.entry(), amount == null ? null : amount.entry());
            if (mode != null) {
                node.put(name, text).from(mode.entry());
            }
            return;
        }
        for (Rec rec : new Rec[] {mode, amount}) {
            if (rec != null) {
                rec.entry().matchesDefaultOf("log.access[]." + name);
            }
        }
    }

    private void writeFileLimit(DraftNode node, LogObject log) {
        String ownCount = log.rolling().get("rolling_min_count");
        String count = ownCount == null ? value(minCount, "") : ownCount;
        if (count.isEmpty()) {
            return;
        }
        Entry source = ownCount == null && minCount != null ? minCount.entry() : log.entry();
        source.note("Traffic Server keeps at least this many files, Millrace keeps at most this many; 0 keeps all");
        if (isDefault("rotate_keep", count)) {
            source.matchesDefaultOf("log.access[].rotate_keep");
        } else {
            node.put("rotate_keep", count).from(source);
        }
    }

    private static String value(@Nullable Rec rec, String defaultValue) {
        return rec == null || rec.value() == null ? defaultValue : rec.value();
    }

    private static boolean isDefault(String name, String text) {
        ConfigKey<?> key = ConfigCatalog.find("log.access[]." + name);
        return key != null && key.isDefault(text);
    }
}
