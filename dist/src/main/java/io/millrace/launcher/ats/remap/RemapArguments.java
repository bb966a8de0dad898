package io.millrace.launcher.ats.remap;

import io.millrace.launcher.ats.draft.ImportState;
import io.millrace.launcher.ats.settings.SpecialRecords;
import io.millrace.launcher.ats.settings.StorageImport;
import io.millrace.launcher.ats.source.RecordTable;
import io.millrace.launcher.importing.source.Entry;
import io.millrace.launcher.importing.source.Quantity;
import io.millrace.launcher.importing.source.Quantity.BadValueException;
import io.millrace.proxy.config.ConfigCatalog;
import io.millrace.proxy.config.guard.SigningKeys;
import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.LoadedFile;
import io.millrace.proxy.config.value.InvalidValueException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * The importer of the arguments after the URLs of a remap rule, except filters. These are plugins and their parameters,
 * a volume, and a strategy. Confined to one thread.
 */
final class RemapArguments {
    /** Plugin parameters, with the corresponding keys of Millrace. */
    private static final Map<String, String> KEYS = Map.ofEntries(
            Map.entry("cachekey.so --include-params", "cache.key.included_params"),
            Map.entry("cachekey.so --exclude-params", "cache.key.excluded_params"),
            Map.entry("cachekey.so --sort-params", "cache.key.sorted_params"),
            Map.entry("cachekey.so --remove-all-params", "cache.key.ignore_query"),
            Map.entry("cachekey.so --include-headers", "cache.key.fields"),
            Map.entry("cachekey.so --include-cookies", "cache.key.cookies"),
            Map.entry("cachekey.so --static-prefix", "cache.key.host"),
            Map.entry("stale_response.so --stale-while-revalidate-default", "cache.stale_while_revalidate"),
            Map.entry("stale_response.so --force-stale-while-revalidate", "cache.force_stale_while_revalidate"),
            Map.entry("stale_response.so --stale-if-error-default", "cache.stale_if_error"),
            Map.entry("stale_response.so --force-stale-if-error", "cache.force_stale_if_error"));

    private final ImportState state;
    private final StorageImport storage;
    private final boolean beforeVersion10;
    /** The last {@code @plugin} argument of the rule, to which the next {@code @pparam} arguments belong. */
    private String plugin = "";

    private RemapRule lastRule = new RemapRule(new Entry("", 0, 0, ""), "", "", "");

    /** @param beforeVersion10 whether the configuration is for a Traffic Server before version 10 */
    RemapArguments(ImportState state, StorageImport storage, boolean beforeVersion10) {
        this.state = state;
        this.storage = storage;
        this.beforeVersion10 = beforeVersion10;
    }

    /**
     * Imports one argument of a rule.
     *
     * @param argument the argument without the {@code @}
     */
    void importArgument(String argument, RemapRule rule) {
        if (!rule.equals(lastRule)) {
            plugin = "";
            lastRule = rule;
        }
        int equals = argument.indexOf('=');
        String name = equals < 0 ? argument : argument.substring(0, equals);
        String value = equals < 0 ? "" : argument.substring(equals + 1);
        switch (name) {
            case "plugin" -> importPlugin(value, rule);
            case "pparam" -> importParameter(value, rule);
            case "volume" -> importVolume(value, rule);
            case "strategy" -> rule.strategy(value.replaceAll("^['\"]|['\"]$", ""));
            default -> rule.entry().notMapped("'@" + argument + "' is not understood");
        }
    }

    private void importPlugin(String path, RemapRule rule) {
        plugin = path.substring(path.lastIndexOf('/') + 1);
        boolean isReadByParameters = plugin.equals("conf_remap.so")
                || plugin.equals(Plugins.HEADER_REWRITE)
                || KEYS.keySet().stream().anyMatch(key -> key.startsWith(plugin + " "));
        if (isReadByParameters) {
            return;
        }
        if (CompressImport.isCompress(plugin)) {
            rule.compressFile("");
            return;
        }
        if (plugin.equals(Plugins.ESI)) {
            rule.settings().put("esi.enabled", "true");
            rule.entry().note(Plugins.ESI_NOTE);
            return;
        }
        if (plugin.equals(Plugins.URL_SIG)) {
            // The rule stays denied until the parameter with the file of keys is read.
            rule.markDenied();
            return;
        }
        String note = Plugins.about(plugin);
        if (Plugins.deniesClients(plugin)) {
            rule.markDenied();
        }
        if (Plugins.isBuiltIn(plugin)) {
            rule.entry().note(plugin + ": " + note);
        } else {
            rule.entry().notMapped("@plugin=" + plugin + ": " + note);
        }
    }

    private void importRewriteParameter(String text, RemapRule rule) {
        if (text.startsWith(Plugins.GEO_PATH)) {
            Plugins.locations(state, text, rule.entry());
        } else if (text.startsWith("-")) {
            rule.entry().notMapped("@pparam=" + text + " of header_rewrite.so has no equivalent");
        } else {
            rule.rewrites().add(text);
        }
    }

    private void importParameter(String text, RemapRule rule) {
        int equals = text.indexOf('=');
        String name = equals < 0 ? text : text.substring(0, equals);
        String value = equals < 0 ? "" : text.substring(equals + 1);
        if (plugin.equals(Plugins.HEADER_REWRITE)) {
            importRewriteParameter(text, rule);
            return;
        }
        if (plugin.equals("conf_remap.so")) {
            importRecord(name, value, rule);
            return;
        }
        if (CompressImport.isCompress(plugin)) {
            rule.compressFile(text);
            return;
        }
        if (plugin.equals(Plugins.URL_SIG)) {
            importSignedUrlParameter(text, rule);
            return;
        }
        String key = KEYS.get(plugin + " " + name);
        if (key == null) {
            if (plugin.equals("cachekey.so") || plugin.equals("stale_response.so") || plugin.isEmpty()) {
                rule.entry().notMapped("@pparam=" + text + " of " + plugin + " has no equivalent");
            }
            return;
        }
        try {
            rule.settings().put(key, pluginValue(key, value));
        } catch (BadValueException e) {
            rule.entry().notMapped("@pparam=" + text + ": " + e.getMessage());
            return;
        }
        if (key.equals("cache.key.ignore_query") || key.endsWith("_params")) {
            rule.settings().put("cache.key.send_whole_query", "true");
            rule.entry()
                    .note("origins get the whole query as in Traffic Server; this is safe only if no stored response"
                            + " depends on the query");
        }
    }

    /** Imports a parameter of url_sig.so: the file of keys, then perhaps {@code pristineurl}. */
    private void importSignedUrlParameter(String text, RemapRule rule) {
        if (text.equalsIgnoreCase("pristineurl") && rule.settings().containsKey("signed_urls.keys")) {
            rule.settings().put("signed_urls.url", "client");
            return;
        }
        Path file = Path.of(state.resolveInConfigDirectory(text));
        if (!Files.exists(file)) {
            // The directory may be a copy. An absolute name then refers to the original directory.
            file = Path.of(
                    state.resolveInConfigDirectory(String.valueOf(Path.of(text).getFileName())));
        }
        try {
            SigningKeys.parse(LoadedFile.read(file));
        } catch (InvalidValueException e) {
            rule.entry()
                    .notMapped("@plugin=url_sig.so: " + e.problem()
                            + "; the rule denies all requests until you set signed_urls.keys and remove the filter");
            return;
        }
        rule.unmarkDenied();
        rule.settings().put("signed_urls.keys", file.toString());
        rule.settings().put("signed_urls.url", "origin");
    }

    private static String pluginValue(String key, String value) throws BadValueException {
        ConfigKey<?> configKey = ConfigCatalog.find(key);
        String type = configKey == null ? "" : configKey.type().name();
        if (type.equals("boolean")) {
            return value.equals("false") || value.equals("0") ? "false" : "true";
        }
        if (type.equals("duration")) {
            return Quantity.time(value);
        }
        return key.equals("cache.key.host") ? value : "[" + value + "]";
    }

    /** Imports a parameter of conf_remap.so, which sets a record for this rule only. */
    private void importRecord(String name, String value, RemapRule rule) {
        RecordTable.Mapping mapping = name.startsWith("proxy.config.") ? RecordTable.find(name.substring(13)) : null;
        if (mapping == null) {
            rule.entry()
                    .notMapped("@pparam=" + name
                            + (value.isEmpty()
                                    ? ": files of conf_remap.so are not read"
                                    : " has no key that a rule can set"));
            return;
        }
        if (beforeVersion10 && mapping.name().equals("http.cache.ignore_server_no_cache") && !value.equals("0")) {
            rule.entry().notMapped("@pparam=" + name + ": " + SpecialRecords.NO_STORE_TOO);
            return;
        }
        try {
            for (String key : mapping.keys()) {
                ConfigKey<?> configKey = ConfigCatalog.find(key);
                if (configKey == null || !configKey.isPerRule()) {
                    rule.entry().notMapped(key + " applies to all rules and cannot be set for one rule");
                    continue;
                }
                List<String> words = mapping.words(value);
                rule.settings().put(key, words == null ? mapping.convert(key, value) : words.toString());
            }
        } catch (BadValueException e) {
            rule.entry().notMapped(name + ": " + e.getMessage());
        }
    }

    private void importVolume(String value, RemapRule rule) {
        String first = value.split(",", -1)[0];
        String name = storage.volume(first);
        if (name == null) {
            rule.entry().notMapped("@volume=" + value + ": no such volume was imported");
            return;
        }
        rule.settings().put("cache.volume", name);
        if (!first.equals(value)) {
            rule.entry().notMapped("@volume=" + value + ": a rule has only one volume; the first one is used");
        }
    }
}
