package io.millrace.proxy.config.check;

import io.millrace.proxy.config.access.ForwardProxyKeys;
import io.millrace.proxy.config.admin.AdminConfig;
import io.millrace.proxy.config.admin.AdminKeys;
import io.millrace.proxy.config.admin.AdminRole;
import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.ConfigKeys;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.problem.ConfigProblems;
import io.millrace.proxy.config.problem.ConfigProblems.Place;
import io.millrace.proxy.config.remap.RemapKeys;
import io.millrace.proxy.config.value.InvalidValueException;
import io.millrace.proxy.config.value.ListenAddress;
import io.millrace.proxy.config.value.RemapVerb;
import io.millrace.proxy.config.value.RuleUrl;
import io.netty.util.NetUtil;
import java.net.InetAddress;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Checks tokens and TLS of the admin API over TCP. Confined to one thread. */
final class AdminChecks {
    /** Kinds of purges that a token can be limited to. */
    private static final List<String> KINDS = List.of("url", "host", "prefix", "group", "tag", "pattern", "all");

    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9._-]{1,64}");

    private static final int TOKENS_MAX = 100;

    /** Limit of characters of one token's site names. The launcher sends them to the worker in one request field. */
    private static final int SITES_LENGTH_MAX = 8192;

    private final ConfigProblems problems;
    private final Place wholeFile;

    AdminChecks(ConfigProblems problems, Place wholeFile) {
        this.problems = problems;
        this.wholeFile = wholeFile;
    }

    void check(ConfigValues values) {
        List<ConfigValues> tokens = values.elements(AdminKeys.TOKENS);
        if (values.find(ConfigKeys.ADMIN_LISTEN) == null && !tokens.isEmpty() && !isBroken("admin.listen")) {
            problems.warning(at("admin.tokens"), "admin.tokens", "is not used: admin.listen is not set");
        }
        checkTls(values);
        checkTokens(tokens, values);
    }

    /**
     * Checks that the TCP address has a token, and TLS unless it is loopback. Must only be called for the operator's
     * file. The configuration of a worker could fail this check although the file is correct, because it combines the
     * address of the running launcher with tokens and TLS settings of the newest file.
     */
    void checkListen(ConfigValues values) {
        ListenAddress listen = values.find(ConfigKeys.ADMIN_LISTEN);
        if (listen == null) {
            return;
        }
        boolean isTokenBroken = isBroken(AdminKeys.TOKEN_FILE.path())
                || isBroken(AdminKeys.TOKENS.path())
                || problems.isAnyBrokenBelow(AdminKeys.TOKENS.path());
        if (values.find(AdminKeys.TOKEN_FILE) == null
                && values.elements(AdminKeys.TOKENS).isEmpty()) {
            if (!isTokenBroken) {
                error(
                        "admin.listen",
                        "needs admin.token_file or admin.tokens, because otherwise any client could purge and"
                                + " reconfigure");
            }
        } else if (!isTls(values) && !isTlsBroken() && !isLoopback(listen)) {
            error(
                    "admin.listen",
                    "the admin API at " + listen + " needs admin.tls, because a token in clear text can be read on"
                            + " the network; set admin.tls.certificate and admin.tls.key, or listen on 127.0.0.1:"
                            + listen.port());
        }
    }

    private static boolean isTls(ConfigValues values) {
        return values.isSet(AdminKeys.CERTIFICATE) || values.isSet(AdminKeys.KEY);
    }

    private boolean isTlsBroken() {
        return isBroken("admin.tls") || problems.isAnyBrokenBelow("admin.tls");
    }

    private void checkTls(ConfigValues values) {
        if (isTlsBroken()) {
            return;
        }
        boolean isCertificate = values.isSet(AdminKeys.CERTIFICATE);
        if (isCertificate != values.isSet(AdminKeys.KEY)) {
            ConfigKey<Path> missing = isCertificate ? AdminKeys.KEY : AdminKeys.CERTIFICATE;
            ConfigKey<Path> set = isCertificate ? AdminKeys.CERTIFICATE : AdminKeys.KEY;
            problems.error(
                    at(set.path()), missing.path(), "missing; admin.tls.certificate and admin.tls.key go together");
        }
        if (!isTls(values)) {
            for (ConfigKey<Path> other : List.of(AdminKeys.CA_FILE, AdminKeys.CRL_FILE)) {
                if (values.isSet(other)) {
                    error(other.path(), "needs admin.tls.certificate and admin.tls.key");
                }
            }
        } else if (values.isSet(AdminKeys.CRL_FILE) && !values.isSet(AdminKeys.CA_FILE)) {
            error(AdminKeys.CRL_FILE.path(), "needs admin.tls.client_ca_file, the authorities of client certificates");
        }
    }

    private static boolean isLoopback(ListenAddress listen) {
        InetAddress address = listen.ip() == null ? null : NetUtil.createInetAddressFromIpAddressString(listen.ip());
        return address != null && address.isLoopbackAddress();
    }

    private void checkTokens(List<ConfigValues> tokens, ConfigValues values) {
        if (tokens.size() > TOKENS_MAX) {
            error("admin.tokens", "has " + tokens.size() + " tokens, limit=" + TOKENS_MAX);
            return;
        }
        Sites sites = tokens.stream().anyMatch(token -> token.isSet(AdminKeys.TOKEN_SITES)) ? sites(values) : null;
        Map<String, String> names = new HashMap<>();
        names.put(AdminConfig.DASHBOARD_NAME, "sessions of 'millctl dashboard'");
        if (values.find(AdminKeys.TOKEN_FILE) != null) {
            names.put(AdminConfig.TOKEN_FILE_NAME, "the token of admin.token_file");
        }
        for (int i = 0; i < tokens.size(); i++) {
            String path = "admin.tokens[" + i + "]";
            ConfigValues token = tokens.get(i);
            String name = token.find(AdminKeys.TOKEN_NAME);
            if (name != null) {
                checkName(path, name, names);
            }
            if (token.find(AdminKeys.TOKEN_ROLE) != AdminRole.PURGER) {
                checkOnlyForPurgers(path, token);
            }
            checkKinds(path + ".kinds", token.find(AdminKeys.TOKEN_KINDS));
            checkSites(path + ".sites", token.find(AdminKeys.TOKEN_SITES), sites);
        }
    }

    private void checkName(String path, String name, Map<String, String> names) {
        if (!NAME.matcher(name).matches()) {
            error(path + ".name", "'" + name + "' is not a name of 1 to 64 letters, digits, '-', '_' and '.'");
            return;
        }
        String other = names.putIfAbsent(name, path);
        if (other != null) {
            error(path + ".name", "'" + name + "' is also the name of " + other);
        }
    }

    private void checkOnlyForPurgers(String path, ConfigValues token) {
        for (ConfigKey<?> key : List.of(AdminKeys.TOKEN_SITES, AdminKeys.TOKEN_KINDS)) {
            if (token.isSet(key) && token.isSet(AdminKeys.TOKEN_ROLE)) {
                error(path + "." + key.name(), "is only for role: purger; the other roles have every site and kind");
            }
        }
    }

    private void checkKinds(String path, @Nullable List<String> kinds) {
        for (String kind : kinds == null ? List.<String>of() : kinds) {
            if (!KINDS.contains(kind.toLowerCase(Locale.ROOT))) {
                problems.error(
                        at(path),
                        path,
                        "'" + kind + "' is not a kind of purge: " + String.join(", ", KINDS),
                        problems.closest(kind, KINDS));
            }
        }
    }

    private void checkSites(String path, @Nullable List<String> named, @Nullable Sites known) {
        if (named == null) {
            return;
        }
        int length = String.join(",", named).length();
        if (length > SITES_LENGTH_MAX) {
            error(path, "the sites have " + length + " characters together, limit=" + SITES_LENGTH_MAX);
        }
        for (String site : named) {
            String name = site.toLowerCase(Locale.ROOT);
            String problem = problemOf(site);
            if (problem != null) {
                error(path, problem);
            } else if (known != null && !known.isAny() && !known.names().contains(name)) {
                problems.error(
                        at(path),
                        path,
                        "no rule has the site '" + site + "'; a site is the value of remap[].site, or the host of a"
                                + " rule without this key",
                        problems.closest(name, known.names()));
            }
        }
    }

    private static @Nullable String problemOf(String site) {
        try {
            RuleUrl.host(site, site);
            return null;
        } catch (InvalidValueException e) {
            return e.problem();
        }
    }

    /**
     * The sites of the rules.
     *
     * @param isAny whether other sites may exist: a rule or the forward proxy serves hosts that the configuration
     *     does not name, or a rule could not be read
     */
    private record Sites(Set<String> names, boolean isAny) {}

    private Sites sites(ConfigValues values) {
        Set<String> names = new HashSet<>();
        boolean isAny = values.get(ForwardProxyKeys.ENABLED)
                || isBroken(ConfigKeys.REMAP.path())
                || problems.isAnyBrokenBelow(ConfigKeys.REMAP.path());
        for (ConfigValues rule : values.elements(ConfigKeys.REMAP)) {
            String site = rule.find(RemapKeys.SITE);
            if (site != null) {
                names.add(site.toLowerCase(Locale.ROOT));
                continue;
            }
            for (RemapVerb verb : RemapVerb.all()) {
                RuleUrl from = verb.isForward() ? rule.find(RemapKeys.of(verb)) : null;
                String host = from == null || verb.isRegex() ? null : from.host();
                if (host != null) {
                    names.add(host.toLowerCase(Locale.ROOT));
                }
                isAny |= from != null && host == null;
            }
        }
        return new Sites(names, isAny);
    }

    private boolean isBroken(String path) {
        return problems.isBroken(path);
    }

    private void error(String path, String message) {
        problems.error(at(path), path, message);
    }

    private Place at(String path) {
        return problems.placeOf(path, wholeFile);
    }
}
