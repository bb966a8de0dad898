package io.millrace.proxy.admin;

import io.millrace.proxy.admin.resource.AdminResource;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The resources by path and method. Immutable. */
final class AdminRoutes {
    private final Map<String, TreeMap<String, AdminResource>> byPath = new HashMap<>();

    AdminRoutes(Collection<AdminResource> resources) {
        for (AdminResource resource : resources) {
            if (!List.of("GET", "POST").contains(resource.method())) {
                throw new IllegalArgumentException("neither GET nor POST: " + describe(resource));
            }
            AdminResource other = byPath.computeIfAbsent(resource.path(), path -> new TreeMap<>())
                    .put(resource.method(), resource);
            if (other != null) {
                throw new IllegalArgumentException("two resources for " + describe(resource));
            }
        }
    }

    private static String describe(AdminResource resource) {
        return resource.method() + " " + resource.path();
    }

    @Nullable
    AdminResource find(String method, String path) {
        TreeMap<String, AdminResource> methods = byPath.get(path);
        return methods == null ? null : methods.get(method);
    }

    /** Returns the methods of a path for the Allow field; empty if there is no such path. */
    String allowed(String path) {
        TreeMap<String, AdminResource> methods = byPath.get(path);
        if (methods == null) {
            return "";
        }
        String names = String.join(", ", methods.keySet());
        return methods.containsKey("GET") ? names.replace("GET", "GET, HEAD") : names;
    }
}
