import { portOr } from '../../src/analysis/stack.ts';
import { expectRow, type Row } from '../support/memory-snapshot.ts';

const python: Row[] = [
  {
    it: 'a lone program',
    files: { 'bot.py': '' },
    found: { language: 'python', startCommand: 'python bot.py', packageManager: null },
  },
  {
    it: 'pip',
    files: { 'requirements.txt': 'requests\n', 'main.py': '' },
    found: { packageManager: 'pip', installCommand: 'pip install -r requirements.txt', startCommand: 'python main.py' },
  },
  {
    it: 'requirements in UTF-16, as PowerShell writes them',
    files: {
      'requirements.txt': new Uint8Array([0xff, 0xfe, ...Buffer.from('flask\ngunicorn\n', 'utf16le')]),
      'main.py': '',
    },
    found: { framework: 'flask' },
  },
  {
    it: 'uv',
    files: { 'pyproject.toml': '[project]\nname = "x"\nrequires-python = ">=3.11"\n', 'uv.lock': '', 'main.py': '' },
    found: { packageManager: 'uv', languageVersion: '3.13' },
  },
  {
    it: 'Poetry without a lock file',
    files: {
      'pyproject.toml': '[tool.poetry]\nname = "x"\n[tool.poetry.dependencies]\npython = "~3.11"\n',
      'main.py': '',
    },
    found: { packageManager: 'poetry', languageVersion: '3.11' },
  },
  {
    it: 'PDM',
    files: { 'pyproject.toml': '[project]\n', 'pdm.lock': '', 'main.py': '' },
    found: { packageManager: 'pdm' },
  },
  {
    it: 'Pipenv',
    files: { Pipfile: '[packages]\nflask = "*"\n[requires]\npython_version = "3.12"\n', 'app.py': '' },
    found: { packageManager: 'pipenv', framework: 'flask', languageVersion: '3.12' },
  },
  {
    it: 'conda',
    files: { 'environment.yml': 'dependencies:\n  - python=3.12\n  - pip:\n    - flask\n', 'app.py': '' },
    found: { packageManager: 'conda', framework: 'flask' },
  },
  {
    it: 'FastAPI by the module that makes it',
    files: {
      'requirements.txt': 'fastapi[standard]\n',
      'app/main.py': 'from fastapi import FastAPI\napi = FastAPI()\n',
    },
    found: {
      framework: 'fastapi',
      startCommand: `uvicorn app.main:api --host 0.0.0.0 --port ${portOr(8000)}`,
      port: 8000,
    },
  },
  {
    it: 'Flask on gunicorn',
    files: { 'requirements.txt': 'Flask==3\ngunicorn\n', 'app.py': 'server = Flask(__name__)\n' },
    found: { framework: 'flask', startCommand: `gunicorn --bind 0.0.0.0:${portOr(8000)} app:server` },
  },
  {
    it: 'Flask alone',
    files: { 'requirements.txt': 'flask\n', 'app.py': 'app = Flask(__name__)\napp.run()' },
    found: { startCommand: 'python app.py' },
  },
  {
    it: 'Django by its settings',
    files: {
      'requirements.txt': 'Django>=5\n',
      'manage.py': 'DJANGO_SETTINGS_MODULE',
      'shop/settings.py': "WSGI_APPLICATION = 'shop.wsgi.application'\n",
      'shop/wsgi.py': '',
    },
    found: {
      framework: 'django',
      startCommand: `gunicorn --bind 0.0.0.0:${portOr(8000)} shop.wsgi:application`,
      releaseCommand: 'python manage.py migrate --noinput',
    },
  },
  {
    it: 'Streamlit',
    files: { 'requirements.txt': 'streamlit\n', 'app.py': '' },
    found: { framework: 'streamlit', port: 8501 },
  },
  {
    it: 'Python beside the assets of its own pages',
    files: {
      'manage.py': 'django',
      'requirements.txt': 'django\n',
      'package.json': { scripts: { start: 'webpack', build: 'webpack' }, dependencies: { react: '19' } },
    },
    found: { language: 'python' },
  },
  {
    it: 'tools for documentation do not make a Python application',
    files: { 'package.json': { dependencies: { next: '15' } }, 'requirements.txt': 'mkdocs\n' },
    found: { language: 'node', framework: 'nextjs' },
  },
];

describe('Python', () => {
  test.each(python)('$it', expectRow);
});
