import java.io.File;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.hive.conf.HiveConf;
import org.apache.hadoop.hive.ql.Driver;
import org.apache.hadoop.hive.ql.QueryState;
import org.apache.hadoop.hive.ql.session.SessionState;

/**
 * Runs statements of Hive with a metastore of its own: {@code HiveSql FOLDER STATEMENT...}. Prints
 * each row of the last one on a line, fields apart by tabs, and an error as Hive words it.
 *
 * <p>Hive 3 wants a class loader that newer releases of Java do not have, so it gets one. Its jobs do
 * not run there; queries that need none do.
 */
public final class HiveSql {
  public static void main(String[] arguments) throws Exception {
    if (!(HiveSql.class.getClassLoader() instanceof URLClassLoader)) {
      List<URL> urls = new ArrayList<>();
      for (String path : System.getProperty("java.class.path").split(File.pathSeparator)) {
        urls.add(new File(path).toURI().toURL());
      }
      URLClassLoader loader =
          new URLClassLoader(urls.toArray(new URL[0]), ClassLoader.getPlatformClassLoader());
      Thread.currentThread().setContextClassLoader(loader);
      Class<?> again = loader.loadClass("HiveSql");
      again.getMethod("main", String[].class).invoke(null, (Object) arguments);
      return;
    }
    String folder = arguments[0];
    HiveConf conf = new HiveConf();
    conf.set("javax.jdo.option.ConnectionURL", "jdbc:derby:;create=true;databaseName=" + folder + "/m");
    conf.set("javax.jdo.option.ConnectionDriverName", "org.apache.derby.jdbc.EmbeddedDriver");
    conf.set("datanucleus.schema.autoCreateAll", "true");
    conf.set("hive.metastore.schema.verification", "false");
    conf.set("hive.metastore.warehouse.dir", folder + "/warehouse");
    conf.set("hive.exec.scratchdir", folder + "/scratch");
    conf.set("hive.exec.local.scratchdir", folder + "/local");
    conf.set("hive.fetch.task.conversion", "more");
    conf.set("hive.support.concurrency", "false");
    conf.set("hive.stats.autogather", "false");
    conf.set("hive.server2.materializedviews.registry.impl", "DUMMY");
    conf.set("hive.in.test", "true");
    SessionState.start(new SessionState(conf));
    List<String> rows = new ArrayList<>();
    for (int at = 1; at < arguments.length; at++) {
      Driver driver = new Driver(new QueryState.Builder().withHiveConf(conf).build(), null);
      var response = driver.run(arguments[at]);
      if (response.getResponseCode() != 0) {
        System.err.println("refused: " + arguments[at] + ": " + response.getErrorMessage());
        System.exit(1);
      }
      rows.clear();
      List<String> some = new ArrayList<>();
      while (driver.getSchema() != null && driver.getResults(some)) {
        rows.addAll(some);
        some.clear();
      }
      driver.close();
    }
    rows.forEach(row -> System.out.println("row\t" + row));
    System.exit(0);
  }

  private HiveSql() {}
}
