package io.millrace.proxy.admin;

import io.millrace.proxy.admin.resource.AdminResource;
import io.millrace.proxy.admin.resource.PathTemplate;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The table of resources by path and method. Immutable. */
final class AdminRoutes {
    /** The resources of each path by method, sorted. */
    private final Map<String, Map<String, AdminResource>> byPath = new HashMap<>();
    /** The paths with variable segments. */
    private final Map<String, PathTemplate> templates = new LinkedHashMap<>();

    AdminRoutes(Collection<AdminResource> resources) {
        for (AdminResource resource : resources) {
            if (!List.of("GET", "POST").contains(resource.method())) {
                throw new IllegalArgumentException(
                        "the method of a resource must be GET or POST: " + describe(resource));
            }
            AdminResource other = byPath.computeIfAbsent(resource.path(), path -> new TreeMap<>())
                    .put(resource.method(), resource);
            if (other != null) {
                throw new IllegalArgumentException("two resources for " + describe(resource));
            }
            if (PathTemplate.isTemplate(resource.path())) {
                templates.put(resource.path(), new PathTemplate(resource.path()));
            }
        }
    }

    private static String describe(AdminResource resource) {
        return resource.method() + " " + resource.path();
    }

    /**
     * Returns the resource for a request; null if there is none.
     *
     * @param path the decoded path
     * @param target path and query, as received
     */
    @Nullable
    AdminResource find(String method, String path, String target) {
        Map<String, AdminResource> methods = methods(path, target);
        return methods == null ? null : methods.get(method);
    }

    private @Nullable Map<String, AdminResource> methods(String path, String target) {
        Map<String, AdminResource> exact = PathTemplate.isTemplate(path) ? null : byPath.get(path);
        if (exact != null) {
            return exact;
        }
        for (Map.Entry<String, PathTemplate> each : templates.entrySet()) {
            if (each.getValue().values(target) != null) {
                return byPath.get(each.getKey());
            }
        }
        return null;
    }

    /** The methods of a path as the Allow field lists them. Empty when there is no such path. */
    String allowed(String path, String target) {
        Map<String, AdminResource> methods = methods(path, target);
        if (methods == null) {
            return "";
        }
        String names = String.join(", ", methods.keySet());
        return methods.containsKey("GET") ? names.replace("GET", "GET, HEAD") : names;
    }
}
