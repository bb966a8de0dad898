package io.millrace.launcher.ats.settings;

import io.millrace.launcher.ats.draft.ImportState;
import io.millrace.launcher.ats.source.Words;
import io.millrace.launcher.ats.source.Yaml;
import io.millrace.launcher.importing.draft.DraftNode;
import io.millrace.launcher.importing.source.Entry;
import io.millrace.launcher.importing.source.Quantity;
import io.millrace.launcher.importing.source.Quantity.BadValueException;
import io.millrace.launcher.importing.source.SourceFile;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.NodeTuple;

/**
 * The importer of storage paths and volumes of Traffic Server's cache. It reads storage.yaml, or else storage.config
 * and volume.config. In both cases it reads hosting.config. Confined to one thread.
 */
public final class StorageImport {
    /**
     * A volume.
     *
     * @param size such as {@code 30%}, or a number with or without a unit; empty for the remaining space
     * @param inMegabytes whether a size without a unit is in MiB
     */
    private record Volume(Entry entry, SourceFile file, String id, String size, boolean inMegabytes) {}

    private final ImportState state;
    private final Map<String, Volume> volumes = new LinkedHashMap<>();
    /** Hosts of each volume, by its number. */
    private final Map<String, Set<String>> hosts = new LinkedHashMap<>();
    /** Lines of hosting.config for each volume. */
    private final Map<String, List<Entry>> hosting = new LinkedHashMap<>();
    /** Volumes for all hosts that hosting.config does not name. */
    private final Set<String> generalVolumes = new HashSet<>();
    /** Volumes that remap rules name. */
    private final Set<String> usedByRules = new LinkedHashSet<>();
    /** Sum of the known sizes of storage paths, in bytes. */
    private long total;
    /** True if the size of a storage path is not known. */
    private boolean sizeUnknown;

    /** Creates an import from {@code state}; {@link #read} does the work. */
    public StorageImport(ImportState state) {
        this.state = state;
    }

    /** Imports the files that exist. */
    public void read() {
        SourceFile yaml = state.read("storage.yaml");
        if (yaml != null) {
            readYaml(yaml);
            if (state.has("storage.config")) {
                state.markNotMapped("storage.config", "the file is not used: storage.yaml exists and takes precedence");
            }
            if (state.has("volume.config")) {
                state.markNotMapped("volume.config", "the file is not used: storage.yaml exists and takes precedence");
            }
        } else {
            readStorage();
            readVolumes();
        }
        readHosting();
    }

    /** Returns the Millrace name of the volume that a rule refers to; null if there is no such volume. */
    @Nullable
    public String volume(String id) {
        if (!volumes.containsKey(id)) {
            return null;
        }
        if (generalVolumes.contains(id) || isWhole(volumes.get(id))) {
            return "default";
        }
        usedByRules.add(id);
        return name(id);
    }

    /** Returns true if the volume uses the whole space of the cache. */
    private boolean isWhole(@Nullable Volume volume) {
        if (volume == null) {
            return false;
        }
        try {
            if (volume.size.endsWith("%")) {
                return Quantity.number(volume.size
                                        .substring(0, volume.size.length() - 1)
                                        .strip())
                                .compareTo(BigDecimal.valueOf(100))
                        >= 0;
            }
            return !sizeUnknown && total > 0 && bytes(volume) >= total;
        } catch (BadValueException | NumberFormatException e) {
            return false;
        }
    }

    private static long bytes(Volume volume) throws BadValueException {
        long bytes = Quantity.integer(volume.size);
        return volume.inMegabytes && volume.size.matches("\\d+") ? bytes << 20 : bytes;
    }

    private static String name(String id) {
        return "volume-" + id;
    }

    private void readStorage() {
        SourceFile file = state.read("storage.config");
        if (file == null) {
            return;
        }
        for (Words words : Words.of(file)) {
            String size = "";
            for (int i = 1; i < words.words().size(); i++) {
                String word = words.at(i);
                if (word.startsWith("volume=")) {
                    words.entry().notMapped(word + ": every volume has a share of every path");
                } else if (word.startsWith("id=")) {
                    words.entry().note("id: a path is identified by its content");
                } else {
                    size = word;
                }
            }
            writePath(file, words.entry(), words.at(0), size);
        }
    }

    private void writePath(SourceFile file, Entry entry, String path, String size) {
        try {
            DraftNode node = state.draft().addElement("storage", entry);
            node.put("path", state.resolveInInstallPrefix(path));
            if (!size.isEmpty()) {
                long bytes = Quantity.integer(size);
                node.put("size", Quantity.size(bytes));
                total += bytes;
            } else {
                sizeUnknown = true;
            }
            if (state.draft().elements("storage").size() == 1) {
                node.remark(
                        "Millrace does not read the cache of Traffic Server; delete its cache.db when Traffic Server no longer runs.");
            }
        } catch (BadValueException e) {
            file.problem(entry, e.getMessage());
        }
    }

    private void readYaml(SourceFile file) {
        NodeTuple cache = Yaml.pairs(Yaml.root(file)).get("cache");
        if (cache == null) {
            return;
        }
        Yaml.section(file, cache.getKeyNode());
        for (Map.Entry<String, NodeTuple> part :
                Yaml.pairs(cache.getValueNode()).entrySet()) {
            Yaml.section(file, part.getValue().getKeyNode());
            for (Node node : Yaml.elements(part.getValue().getValueNode())) {
                Entry entry = Yaml.entry(file, node, node);
                switch (part.getKey()) {
                    case "spans" -> {
                        writePath(file, entry, Yaml.text(node, "path"), Yaml.text(node, "size"));
                        if (!Yaml.text(node, "hash_seed").isEmpty()) {
                            entry.note("hash_seed: a path is identified by its content");
                        }
                    }
                    case "volumes" -> readVolume(file, entry, node);
                    default -> entry.notMapped("'" + part.getKey() + "' is not understood");
                }
            }
        }
    }

    private void readVolume(SourceFile file, Entry entry, Node node) {
        Yaml.pairs(node).keySet().forEach(name -> explainOption(entry, name));
        volumes.put(
                Yaml.text(node, "id"), new Volume(entry, file, Yaml.text(node, "id"), Yaml.text(node, "size"), false));
    }

    /** Explains an option of a volume other than number and size. */
    private static void explainOption(Entry entry, String name) {
        switch (name) {
            case "volume", "id", "size", "scheme" -> {}
            case "spans" -> entry.notMapped("spans: every volume has a share of every path");
            case "avg_obj_size", "fragment_size" ->
                entry.note(name + ": the option concerns the internals of Traffic Server's store");
            default -> entry.notMapped(name + ": all volumes share the RAM tier");
        }
    }

    private void readVolumes() {
        SourceFile file = state.read("volume.config");
        if (file == null) {
            return;
        }
        for (Words words : Words.of(file)) {
            String id = "";
            String size = "";
            for (String word : words.words()) {
                int equals = word.indexOf('=');
                String name = equals < 0 ? word : word.substring(0, equals).toLowerCase(Locale.ROOT);
                String value = word.substring(equals + 1);
                id = name.equals("volume") ? value : id;
                size = name.equals("size") ? value : size;
                explainOption(words.entry(), name);
            }
            if (id.isEmpty() || size.isEmpty()) {
                file.problem(words.entry(), "a volume needs volume= and size=");
            } else {
                volumes.put(id, new Volume(words.entry(), file, id, size, true));
            }
        }
    }

    private void readHosting() {
        SourceFile file = state.read("hosting.config");
        if (file == null) {
            return;
        }
        for (Words words : Words.of(file)) {
            String host = "";
            List<String> ids = new ArrayList<>();
            for (String word : words.words()) {
                String value = word.substring(word.indexOf('=') + 1);
                switch (word.substring(0, Math.max(0, word.indexOf('='))).toLowerCase(Locale.ROOT)) {
                    case "hostname" -> host = value;
                    case "domain" -> host = value.startsWith(".") ? value : "." + value;
                    case "volume" -> ids.addAll(List.of(value.split(",", -1)));
                    default ->
                        file.problem(words.entry(), "'" + word + "' is not one of hostname=, domain= and volume=");
                }
            }
            readHost(file, words.entry(), host, ids);
        }
    }

    private void readHost(SourceFile file, Entry entry, String host, List<String> ids) {
        if (host.isEmpty() || ids.isEmpty()) {
            file.problem(entry, "the line needs hostname= or domain=, and volume=");
            return;
        }
        String id = ids.get(0);
        if (!volumes.containsKey(id)) {
            entry.notMapped("volume " + id + " is not in the list of volumes");
        } else if (host.equals("*")) {
            generalVolumes.addAll(ids);
            entry.note("the remaining share is for all other hosts");
        } else {
            hosts.computeIfAbsent(id, i -> new LinkedHashSet<>()).add(host);
            if (host.startsWith(".")) {
                hosts.get(id).add(host.substring(1));
            }
            hosting.computeIfAbsent(id, i -> new ArrayList<>()).add(entry);
            if (ids.size() > 1) {
                entry.notMapped("a host has only one volume; in Millrace this is volume " + id);
            }
        }
    }

    /** Writes the volumes that hosts or rules use. To be called after all rules were imported. */
    public void finish() {
        for (Volume volume : volumes.values()) {
            boolean isUsed = hosts.containsKey(volume.id) || usedByRules.contains(volume.id);
            if (!isUsed) {
                volume.entry.note(
                        "no host and no rule uses this volume exclusively, so its space is part of the space that all other hosts share");
                continue;
            }
            if (isWhole(volume)) {
                String all = "the volume is the whole cache, which is shared without a volume";
                volume.entry.note(all);
                hosting.getOrDefault(volume.id, List.of()).forEach(entry -> entry.note(all));
                continue;
            }
            String share = share(volume);
            if (share == null) {
                continue;
            }
            DraftNode node = state.draft().addElement("volumes", volume.entry);
            node.put("name", name(volume.id));
            node.put("share", share);
            Set<String> names = hosts.get(volume.id);
            if (names != null) {
                DraftNode list = node.putWords("hosts", List.copyOf(names));
                hosting.getOrDefault(volume.id, List.of()).forEach(list::from);
            }
        }
    }

    private @Nullable String share(Volume volume) {
        try {
            if (volume.size.isEmpty()) {
                volume.entry.notMapped("without a size the volume has the remaining space: set volumes[].share");
                return null;
            }
            if (volume.size.endsWith("%")) {
                Quantity.decimal(volume.size.substring(0, volume.size.length() - 1));
                return volume.size;
            }
            long bytes = bytes(volume);
            if (sizeUnknown || total == 0) {
                volume.entry.notMapped(
                        "a size in bytes cannot be converted into a share, because the sizes of the paths are unknown: set volumes[].share");
                return null;
            }
            return BigDecimal.valueOf(bytes)
                            .movePointRight(2)
                            .divide(BigDecimal.valueOf(total), 2, RoundingMode.HALF_EVEN)
                            .stripTrailingZeros()
                            .toPlainString()
                    + "%";
        } catch (BadValueException e) {
            volume.file.problem(volume.entry, e.getMessage());
            return null;
        }
    }
}
