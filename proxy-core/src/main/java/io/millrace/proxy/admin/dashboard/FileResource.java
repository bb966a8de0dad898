package io.millrace.proxy.admin.dashboard;

import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.admin.resource.AdminReply;
import io.millrace.proxy.admin.resource.AdminRequest;
import io.millrace.proxy.admin.resource.AdminResource;
import io.millrace.proxy.admin.resource.AdminResponder;
import io.millrace.proxy.admin.resource.PathTemplate;
import java.util.List;

/** The start page or the other files of the dashboard, below {@code /ui/}. Over TCP only. Thread-safe. */
final class FileResource implements AdminResource {
    private final DashboardFiles files;
    private final String path;
    /** Beginning of the file names, such as {@code vendor/}; empty for none. */
    private final String directory;

    private FileResource(DashboardFiles files, String path, String directory) {
        this.files = files;
        this.path = path;
        this.directory = directory;
    }

    static List<AdminResource> all(DashboardFiles files) {
        return List.of(
                new FileResource(files, DashboardFiles.ROOT, ""),
                new FileResource(files, DashboardFiles.VERSIONED + "{version}/{file}", ""),
                new FileResource(files, DashboardFiles.VERSIONED + "{version}/vendor/{file}", "vendor/"));
    }

    @Override
    public String method() {
        return "GET";
    }

    @Override
    public String path() {
        return path;
    }

    @Override
    public boolean isPublic() {
        return true;
    }

    /** True until the files are in memory, so that the event loop never reads and compresses them. */
    @Override
    public boolean isBlocking() {
        return !files.isLoaded();
    }

    @Override
    public void handle(AdminRequest request, AdminResponder responder) throws AdminException {
        Dashboard.requireTcp(request);
        if (!PathTemplate.isTemplate(path)) {
            responder.reply(files.page(request.sender()));
            return;
        }
        List<String> values = new PathTemplate(path).values(request.target());
        AdminReply reply =
                values == null ? null : files.file(values.get(0), directory + values.get(1), request.sender());
        if (reply == null) {
            throw new AdminException(
                    404, "not-found", "this version of the dashboard has no such file; load the page again");
        }
        responder.reply(reply);
    }
}
