package io.millrace.launcher.ats.remap;

import io.millrace.launcher.ats.draft.ImportState;
import io.millrace.launcher.ats.source.Words;
import io.millrace.launcher.importing.draft.DraftNode;
import io.millrace.launcher.importing.source.Entry;
import io.millrace.launcher.importing.source.SourceFile;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The importer of the plugin compress (formerly gzip) into {@code compression}. Confined to one thread. */
final class CompressImport {
    private static final String DIFFERENCES =
            "compress.so: responses with 203, 403, 404 and 410 are compressed too; content above compression.max_size"
                    + " is not";

    private final ImportState state;
    /**
     * The sections of each file that was read. The first section of a file is for all hosts without a section of their
     * own.
     */
    private final Map<String, List<CompressSection>> sectionsByFile = new HashMap<>();

    private final Set<CompressSection> used = new HashSet<>();

    CompressImport(ImportState state) {
        this.state = state;
    }

    static boolean isCompress(String plugin) {
        return plugin.equals("compress.so") || plugin.equals("gzip.so");
    }

    /** Writes the settings of a rule with the plugin. An empty name means that there is no file. */
    void write(RemapRule rule, DraftNode node, String name) {
        List<CompressSection> sections = sections(name, rule.entry());
        if (sections != null) {
            CompressSection section = sections.get(0);
            for (CompressSection each : sections.subList(1, sections.size())) {
                section = isForHostOf(each, rule) ? each : section;
            }
            write(section, node, rule.entry());
        }
    }

    /**
     * Writes the settings that a line of plugin.config loads for all rules. Settings for a single host are written into
     * the rules of this host.
     */
    void writeForAll(Words words, List<RemapRule> rules) {
        List<CompressSection> sections = sections(words.at(1), words.entry());
        if (sections == null) {
            return;
        }
        CompressSection first = sections.get(0);
        if (first.isOff()) {
            used.add(first);
            words.entry().matchesDefaultOf("compression.enabled");
            first.noteOff();
        } else {
            write(first, state.draft().root(), words.entry());
        }
        for (CompressSection each : sections.subList(1, sections.size())) {
            for (RemapRule rule : rules) {
                DraftNode node = rule.node();
                if (node != null && rule.isMapping() && isForHostOf(each, rule) && node.find("compression") == null) {
                    write(each, node, words.entry());
                }
            }
        }
    }

    private static boolean isForHostOf(CompressSection section, RemapRule rule) {
        return !rule.isExpression() && section.host().equals(rule.fromHost());
    }

    private void write(CompressSection section, DraftNode into, Entry source) {
        used.add(section);
        section.write(into, source);
        if (!section.isOff()) {
            source.note(DIFFERENCES);
        }
    }

    /** Returns the sections of a file. Returns null if the file is missing; the line is then marked as not mapped. */
    private @Nullable List<CompressSection> sections(String name, Entry source) {
        if (name.isEmpty()) {
            return List.of(new CompressSection(""));
        }
        SourceFile file = state.read(state.relative(name));
        if (file == null) {
            // The directory may be a copy. An absolute name then refers to the original directory.
            file = state.read(String.valueOf(Path.of(name).getFileName()));
        }
        if (file == null) {
            source.notMapped("compress.so: the file " + name + " does not exist; write compression");
            return null;
        }
        SourceFile found = file;
        return sectionsByFile.computeIfAbsent(found.name(), key -> read(found));
    }

    private static List<CompressSection> read(SourceFile file) {
        List<CompressSection> sections = new ArrayList<>(List.of(new CompressSection("")));
        for (Words words : Words.of(file)) {
            String first = words.at(0);
            if (first.startsWith("[") && first.endsWith("]")) {
                sections.add(new CompressSection(
                        first.substring(1, first.length() - 1).toLowerCase(Locale.ROOT)));
                words.entry().note("see the lines of the section");
            } else {
                sections.get(sections.size() - 1).add(words);
            }
        }
        return sections;
    }

    /** Adds notes to the lines of sections that no rule uses. */
    void finish() {
        for (List<CompressSection> sections : sectionsByFile.values()) {
            sections.stream()
                    .filter(each -> !used.contains(each))
                    .forEach(each -> each.note("no rule uses the section"));
        }
    }
}
