package io.millrace.launcher.ats.settings;

import io.millrace.launcher.ats.draft.ImportState;
import io.millrace.launcher.ats.source.RecordTable;
import io.millrace.launcher.ats.source.Words;
import io.millrace.launcher.importing.draft.DraftNode;
import io.millrace.launcher.importing.source.Entry;
import io.millrace.launcher.importing.source.SourceFile;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The importer of Traffic Server's splitdns.config, which assigns name servers to domains. Stateless. */
public final class SplitDnsImport {
    private SplitDnsImport() {}

    /** Imports the file, if it exists. */
    public static void read(ImportState state) {
        SourceFile file = state.read("splitdns.config");
        if (file == null) {
            return;
        }
        boolean on = state.records().isOn("dns.splitDNS.enabled", false)
                || state.records().isOn("dns.splitdns.enabled", false);
        for (Words words : Words.of(file)) {
            if (on) {
                readLine(state, file, words);
            } else {
                words.entry().note("proxy.config.dns.splitDNS.enabled is off");
            }
        }
    }

    private static void readLine(ImportState state, SourceFile file, Words words) {
        Entry entry = words.entry();
        String domain = "";
        List<String> servers = new ArrayList<>();
        for (String word : words.words()) {
            int equals = word.indexOf('=');
            String value = word.substring(equals + 1);
            switch (word.substring(0, Math.max(0, equals)).toLowerCase(Locale.ROOT)) {
                case "dest_domain", "dest_host" -> domain = value;
                case "named" -> servers.addAll(RecordTable.split(value));
                case "def_domain", "search_list" ->
                    entry.notMapped(word.substring(0, equals) + ": names are looked up without a search domain");
                case "url_regex" -> {
                    entry.notMapped("url_regex: name servers are chosen by domain; see dns.split");
                    return;
                }
                default -> file.problem(entry, "'" + word + "' is not a setting of splitdns.config");
            }
        }
        if (domain.startsWith("!")) {
            entry.notMapped(
                    "a negated domain has no equivalent; dns.name_servers apply to all names that dns.split does not name");
        } else if (domain.isEmpty() || servers.isEmpty()) {
            file.problem(entry, "the line needs dest_domain= and named=");
        } else {
            DraftNode node = state.draft().addElement("dns.split", entry);
            node.putWords("domains", List.of(domain.startsWith(".") ? domain.substring(1) : domain));
            node.putWords("name_servers", servers);
        }
    }
}
