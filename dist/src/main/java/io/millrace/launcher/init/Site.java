package io.millrace.launcher.init;

import io.millrace.proxy.config.value.InvalidValueException;
import io.millrace.proxy.config.value.RuleUrl;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A site of the new configuration. Immutable.
 *
 * @param name host name, in lower case
 * @param origin URL of the site's own origin; null to use the common origin
 */
record Site(String name, @Nullable String origin) {
    /** Limit of sites in one configuration. */
    static final int SITES_MAX = 100;

    /**
     * Parses {@code NAME} or {@code NAME=URL}.
     *
     * @throws InvalidValueException if the name is not a host name, or the URL is not the URL of an origin
     */
    static Site parse(String text) throws InvalidValueException {
        int equals = text.indexOf('=');
        String name = (equals < 0 ? text : text.substring(0, equals)).toLowerCase(Locale.ROOT);
        if (name.contains("://") || name.indexOf('/') >= 0 || name.indexOf(':') >= 0) {
            throw new InvalidValueException("'" + name + "' is not a host name such as www.example.com");
        }
        RuleUrl url = RuleUrl.parseFrom("https://" + name + "/");
        if (url.isAddress()) {
            throw new InvalidValueException("'" + name + "' is an IP address; certificates need a host name");
        }
        return new Site(name, equals < 0 ? null : origin(text.substring(equals + 1)));
    }

    /**
     * Parses sites that spaces or commas separate.
     *
     * @throws InvalidValueException if a site is invalid, a name is repeated, or the number of sites is not from 1 to
     *     100
     */
    static List<Site> parseAll(List<String> texts) throws InvalidValueException {
        List<Site> sites = new ArrayList<>();
        for (String text : texts) {
            for (String word : text.strip().split("[,\\s]+", -1)) {
                if (!word.isEmpty()) {
                    Site site = parse(word);
                    if (sites.stream().anyMatch(other -> other.name().equals(site.name()))) {
                        throw new InvalidValueException("'" + site.name() + "' is listed twice");
                    }
                    sites.add(site);
                }
            }
        }
        if (sites.isEmpty() || sites.size() > SITES_MAX) {
            throw new InvalidValueException("host names: actual=" + sites.size() + ", limit=1.." + SITES_MAX);
        }
        return sites;
    }

    /**
     * Returns the URL of an origin as it is written to the configuration file. Adds the scheme {@code http} if there is
     * none.
     *
     * @throws InvalidValueException if the text is not a URL of an origin
     */
    static String origin(String text) throws InvalidValueException {
        String url = text.contains("://") ? text : "http://" + text;
        RuleUrl parsed = RuleUrl.parseTo(url);
        if (parsed.isWebSocket()) {
            throw new InvalidValueException("'" + text + "' is not an http or https URL");
        }
        return url.endsWith("/") || !parsed.path().equals("/") || url.indexOf('?') >= 0 ? url : url + "/";
    }
}
