package io.millrace.launcher.ats;

import io.millrace.launcher.ats.draft.ImportState;
import io.millrace.launcher.ats.settings.SpecialRecords;
import io.millrace.launcher.ats.source.Words;
import io.millrace.launcher.importing.draft.DraftNode;
import io.millrace.launcher.importing.source.Addresses;
import io.millrace.launcher.importing.source.Entry;
import io.millrace.launcher.importing.source.Quantity;
import io.millrace.launcher.importing.source.Quantity.BadValueException;
import io.millrace.launcher.importing.source.SourceFile;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The importer of Traffic Server's cache.config, whose lines set cache rules for some requests. Confined to one thread.
 */
final class CacheConfigImport {
    private static final Map<String, String> ACTIONS = Map.of(
            "never-cache", "never_cache",
            "ignore-no-cache", "ignore_no_cache",
            "ignore-client-no-cache", "ignore_client_no_cache",
            "ignore-server-no-cache", "ignore_server_no_cache");

    private static final String NO_MATCHING_TARGET =
            "Traffic Server matches the rule against the target URLs of remap rules, and no target matches";

    private final ImportState state;
    /**
     * True for the configuration of a Traffic Server before version 10. Its actions that ignore no-cache still obey
     * no-store.
     */
    private final boolean beforeVersion10;

    private final CacheRuleHosts hosts;

    CacheConfigImport(ImportState state, CacheRuleHosts hosts) {
        this.state = state;
        this.hosts = hosts;
        beforeVersion10 = !state.has("records.yaml");
    }

    void read() {
        SourceFile file = state.read("cache.config");
        if (file == null) {
            return;
        }
        for (Words words : Words.of(file)) {
            readLine(file, words);
        }
    }

    private void readLine(SourceFile file, Words words) {
        DraftNode rule = new DraftNode();
        boolean hasEffect = false;
        for (int i = 0; i < words.words().size(); i++) {
            String word = words.at(i);
            int equals = word.indexOf('=');
            String name = equals < 0 ? word : word.substring(0, equals).toLowerCase(Locale.ROOT);
            String value = equals < 0 ? "" : word.substring(equals + 1);
            try {
                String refused = convertField(words.entry(), rule, name, value);
                if (refused != null) {
                    words.entry().notMapped(refused);
                    return;
                }
                hasEffect |= List.of(
                                "action", "cache-responses-to-cookies", "pin-in-cache", "revalidate", "ttl-in-cache")
                        .contains(name);
            } catch (BadValueException e) {
                file.problem(words.entry().line(), words.columns().get(i), e.getMessage());
                return;
            }
        }
        if (!hasEffect) {
            file.problem(
                    words.entry(),
                    "the line has no effect of its own; it needs one of action=, revalidate=, ttl-in-cache=,"
                            + " pin-in-cache= or cache-responses-to-cookies=");
            return;
        }
        List<DraftNode> lines = hosts.of(rule, words.entry());
        if (lines.isEmpty() && CacheRuleHosts.isNeverCached(rule)) {
            words.entry()
                    .note(NO_MATCHING_TARGET
                            + "; the line is imported for clients' URLs, because it may be meant to prevent storing");
            lines = List.of(rule);
        } else if (lines.isEmpty()) {
            words.entry().note(NO_MATCHING_TARGET);
        }
        for (DraftNode line : lines) {
            DraftNode node = state.draft().addElement("cache_rules", words.entry());
            line.fields().forEach((name, field) -> node.fields().put(name, field));
        }
    }

    /**
     * Converts one {@code name=value} pair of a line.
     *
     * @return the reason why the rule has no equivalent; null if it has one
     */
    private @Nullable String convertField(Entry entry, DraftNode rule, String name, String value)
            throws BadValueException {
        switch (name) {
            case "dest_domain", "dest_host", "host_regex", "url_regex", "suffix", "port", "time" ->
                rule.put(name, value);
            case "url" -> {
                // The expression must match the whole URL.
                rule.put("url_regex", "^" + value.replaceAll("[^A-Za-z0-9/:_~%&=-]", "\\\\$0") + "$");
                entry.note("url: the value is imported as an expression that must match the whole URL");
            }
            case "scheme" -> rule.put(name, value.toLowerCase(Locale.ROOT));
            case "prefix" -> rule.put(name, value.startsWith("/") ? value : "/" + value);
            case "method" -> rule.put(name, value.toUpperCase(Locale.ROOT));
            case "src_ip" -> rule.put(name, Addresses.of(value));
            case "dest_ip" -> {
                return "dest_ip: Millrace looks up the cache before it knows the origin's address; use dest_host or dest_domain";
            }
            case "tag" -> {
                return "tag: Millrace has no tags for requests";
            }
            case "internal" -> {
                return "internal: Millrace has no internal requests";
            }
            case "action" -> {
                String action = ACTIONS.get(value.toLowerCase(Locale.ROOT));
                if (action == null) {
                    return "the action '" + value + "' has no equivalent";
                }
                if (beforeVersion10 && action.equals("ignore_server_no_cache")) {
                    return SpecialRecords.NO_STORE_TOO;
                }
                if (beforeVersion10 && action.equals("ignore_no_cache")) {
                    entry.notMapped("the part for servers is not imported: " + SpecialRecords.NO_STORE_TOO);
                    action = "ignore_client_no_cache";
                }
                rule.put(name, action);
            }
            case "cache-responses-to-cookies" -> rule.put("cache_responses_to_cookies", value);
            case "pin-in-cache" -> rule.put("pin_in_cache", Quantity.time(value));
            case "revalidate" -> rule.put("revalidate", Quantity.time(value));
            case "ttl-in-cache" -> rule.put("ttl_in_cache", Quantity.time(value));
            default -> throw new BadValueException("'" + name + "' is not a setting of cache.config");
        }
        return null;
    }
}
